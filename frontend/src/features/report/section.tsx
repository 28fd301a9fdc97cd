import { memo, useMemo } from 'react'

import { useText } from '../../i18n/text'
import type { SectionView } from '../../state/view'
import { blocks } from './blocks'
import { heal } from './hold-back'
import { Prose } from './prose'

/** One section of the report: as it grows, then as it stands. */
export const ReportSection = memo(function ReportSection({
  section,
  writing,
}: {
  section: SectionView
  /** Whether the run that writes it is still at work. */
  writing: boolean
}) {
  const text = useText()
  const removed = section.sentences.filter((sentence) => sentence.verdict === 'removed')
  if (!section.open && section.text.trim() === '') return null
  return (
    <section
      className="report-section"
      id={`section-${section.index}`}
      data-open={section.open}
      dir="auto"
    >
      <h2 dir="auto">{section.title}</h2>
      {section.open ? (
        <div className={writing ? 'growing' : undefined}>
          <Growing markdown={section.text} />
        </div>
      ) : (
        <Prose
          markdown={section.text}
          title={section.title}
          citations={section.citations}
          sentences={section.sentences}
        />
      )}
      {section.open && !writing && <p className="section-note">{text.unfinished}</p>}
      {removed.length > 0 && (
        <details className="section-note">
          <summary>{text.removedCount(removed.length)}</summary>
          <ul>
            {removed.map((sentence, index) => (
              <li key={index} dir="auto">
                {sentence.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
})

function Growing({ markdown }: { markdown: string }) {
  const parts = useMemo(() => blocks(heal(markdown)), [markdown])
  return parts.map((part, index) => <Prose key={index} markdown={part} />)
}
