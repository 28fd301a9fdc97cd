import type { Depth } from '../../api/types'
import { useText } from '../../i18n/text'

const DEPTHS = [
  ['quick', 'depthQuick', 'depthQuickHint'],
  ['standard', 'depthStandard', 'depthStandardHint'],
  ['deep', 'depthDeep', 'depthDeepHint'],
] as const

export function DepthChoice({
  value,
  onChange,
}: {
  value: Depth
  onChange: (depth: Depth) => void
}) {
  const text = useText()
  return (
    <fieldset className="depths">
      <legend className="visually-hidden">{text.depth}</legend>
      {DEPTHS.map(([depth, name, hint]) => (
        <label key={depth} className="depth">
          <input
            type="radio"
            name="depth"
            value={depth}
            checked={value === depth}
            onChange={() => onChange(depth)}
          />
          <span className="depth-name">{text[name]}</span>
          <span className="depth-hint">{text[hint]}</span>
        </label>
      ))}
    </fieldset>
  )
}
