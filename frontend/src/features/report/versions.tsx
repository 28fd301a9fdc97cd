import type { Version } from '../../api/types'
import { useText } from '../../i18n/text'

interface Props {
  versions: Version[]
  shown: number
  onShow: (version: number) => void
}

/** A switch between versions, once there is more than one. */
export function Versions({ versions, shown, onShow }: Props) {
  const text = useText()
  if (versions.length < 2) return null
  return (
    <label className="choice">
      <span>{text.version}</span>
      <select
        data-testid="version"
        value={shown}
        onChange={(event) => onShow(Number(event.target.value))}
      >
        {versions.map(({ version }) => (
          <option key={version} value={version}>
            {text.versionLabel(version)}
          </option>
        ))}
      </select>
    </label>
  )
}
