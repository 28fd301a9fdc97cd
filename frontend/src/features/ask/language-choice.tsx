import { useText } from '../../i18n/text'

/** Each language under its own name, so that its readers find it. */
const LANGUAGES = [
  ['en', 'English'],
  ['zh', '中文'],
  ['de', 'Deutsch'],
  ['es', 'Español'],
  ['fr', 'Français'],
  ['it', 'Italiano'],
  ['ja', '日本語'],
  ['ko', '한국어'],
  ['pt', 'Português'],
  ['ru', 'Русский'],
  ['ar', 'العربية'],
] as const

export function LanguageChoice({
  value,
  onChange,
}: {
  value: string
  onChange: (language: string) => void
}) {
  const text = useText()
  return (
    <label className="choice">
      <span>{text.reportLanguage}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="auto">{text.languageAuto}</option>
        {LANGUAGES.map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
