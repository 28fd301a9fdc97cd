import { memo, useMemo } from 'react'

import type { Source } from '../../api/types'
import { day } from '../../i18n/format'
import { useLanguage, useText } from '../../i18n/text'
import { usePassage } from '../../shared/passage'
import type { SectionView } from '../../state/view'
import { sourcePlace } from './source-place'

interface Props {
  sources: Source[]
  sections: SectionView[]
}

/** The cited sources under their printed numbers, then what was read besides. */
export const SourceList = memo(function SourceList({ sources, sections }: Props) {
  const text = useText()
  const numbers = useMemo(() => {
    const found = new Map<number, number>()
    for (const { citations } of sections) {
      for (const citation of citations) found.set(citation.n, citation.number)
    }
    return found
  }, [sections])
  if (sources.length === 0) return null
  const cited = sources
    .filter((source) => numbers.has(source.n))
    .sort((a, b) => (numbers.get(a.n) ?? 0) - (numbers.get(b.n) ?? 0))
  const others = sources.filter((source) => !numbers.has(source.n))
  return (
    <section className="source-list" aria-labelledby="sources-heading">
      <h2 id="sources-heading">{text.sources}</h2>
      <ol>
        {cited.map((source) => (
          <Entry key={source.n} source={source} label={String(numbers.get(source.n))} />
        ))}
      </ol>
      {cited.length === 0 ? (
        <ol>
          {others.map((source) => (
            <Entry key={source.n} source={source} label={`S${source.n}`} />
          ))}
        </ol>
      ) : (
        others.length > 0 && (
          <details>
            <summary>{text.sourcesOther(others.length)}</summary>
            <ol>
              {others.map((source) => (
                <Entry key={source.n} source={source} label={`S${source.n}`} />
              ))}
            </ol>
          </details>
        )
      )}
    </section>
  )
})

function Entry({ source, label }: { source: Source; label: string }) {
  const language = useLanguage()
  const { current, open } = usePassage()
  return (
    <li id={`source-${source.n}`}>
      <button
        type="button"
        className="source-entry"
        data-testid="source"
        aria-pressed={current?.n === source.n}
        onClick={(event) => open({ n: source.n, start: null, end: null }, event.currentTarget)}
      >
        <span className="source-number">{label}</span>
        <span className="source-name">
          <span className="source-title" dir="auto">
            {source.title || source.url}
          </span>
          <span className="quiet source-place">
            {sourcePlace(source)}
            {source.date ? ` · ${day(source.date, language)}` : ''}
          </span>
        </span>
      </button>
    </li>
  )
}
