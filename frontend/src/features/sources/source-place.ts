/** Where a source is from, short: the host of a page, the name of a document. */
export function sourcePlace({ url }: { url: string }): string {
  if (!/^https?:/i.test(url)) return url.replace(/^document:/, '')
  try {
    return new URL(url).host.replace(/^www\./, '')
  } catch {
    return url
  }
}
