import type { MouseEvent } from 'react'

import { currentKey } from '../../api/auth'
import { send } from '../../api/http'
import { reportPath } from '../../api/threads'
import { useText } from '../../i18n/text'
import { ProblemNote } from '../../shared/problem-note'
import { useAction } from '../../shared/use-action'

const FORMATS = [
  ['md', 'Markdown'],
  ['html', 'HTML'],
  ['json', 'JSON'],
] as const

/** Plain links; where the service wants a key, which a link cannot carry, fetched instead. */
export function Downloads({ threadId, version }: { threadId: string; version: number }) {
  const text = useText()
  const { problem, run } = useAction()
  const fetchIt = (event: MouseEvent, path: string, name: string) => {
    if (currentKey() === null) return
    event.preventDefault()
    run(async () => {
      const response = await send(path)
      const address = URL.createObjectURL(await response.blob())
      const link = document.createElement('a')
      link.href = address
      link.download = name
      link.click()
      setTimeout(() => URL.revokeObjectURL(address), 60_000)
    })
  }
  return (
    <div className="downloads">
      <span className="quiet">{text.download}</span>
      {FORMATS.map(([format, label]) => {
        const path = reportPath(threadId, format, version)
        const name = `report-${threadId.slice(0, 8)}-v${version}.${format}`
        return (
          <a
            key={format}
            href={`/api${path}`}
            download={name}
            data-testid={`download-${format}`}
            onClick={(event) => fetchIt(event, path, name)}
          >
            {label}
          </a>
        )
      })}
      <ProblemNote problem={problem} />
    </div>
  )
}
