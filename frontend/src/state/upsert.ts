/** `list` with `item` in the place of the first that `same` finds, else at the end. */
export function upsert<T>(list: T[], item: T, same: (old: T) => boolean): T[] {
  const at = list.findIndex(same)
  return at < 0 ? [...list, item] : list.with(at, item)
}

/** `list` with `item` at the end, unless `same` finds it there. */
export function include<T>(list: T[], item: T, same: (old: T) => boolean): T[] {
  return list.some(same) ? list : [...list, item]
}
