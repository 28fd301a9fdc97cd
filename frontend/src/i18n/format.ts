import type { Language } from './text'

/** `1:05`, `2:03:04`: a running clock. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const pad = (n: number) => String(n).padStart(2, '0')
  const hours = Math.floor(whole / 3600)
  const minutes = Math.floor((whole % 3600) / 60)
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`
}

/** About how long: `20 s`, `3 min`, `2 h`. */
export function duration(seconds: number, language: Language): string {
  const units = language === 'zh' ? ['秒', '分钟', '小时'] : ['s', 'min', 'h']
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} ${units[0] ?? ''}`
  if (seconds < 5400) return `${Math.round(seconds / 60)} ${units[1] ?? ''}`
  return `${Math.round(seconds / 360) / 10} ${units[2] ?? ''}`
}

export function compactNumber(n: number, language: Language): string {
  return new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 }).format(
    n,
  )
}

export function money(usd: number, language: Language): string {
  return new Intl.NumberFormat(language, {
    style: 'currency',
    currency: 'USD',
    maximumFractionDigits: usd < 1 ? 3 : 2,
  }).format(usd)
}

export function day(iso: string, language: Language): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime())
    ? iso
    : new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric' }).format(
        date,
      )
}
