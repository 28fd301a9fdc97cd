import type { ComponentProps, MouseEvent } from 'react'

import { useText } from '../../i18n/text'
import { usePassage } from '../../shared/passage'
import { useSourceTitle } from './source-titles'

type Props = ComponentProps<'cite'> & {
  'data-n'?: string | number
  'data-start'?: string | number
  'data-end'?: string | number
}

/** A mark in the text, as a link that opens the passage it stands for. */
export function CitationMark({ children, ...rest }: Props) {
  const text = useText()
  const { current, open } = usePassage()
  const n = Number(rest['data-n'])
  const start = rest['data-start'] === undefined ? null : Number(rest['data-start'])
  const end = rest['data-end'] === undefined ? null : Number(rest['data-end'])
  const title = useSourceTitle(n)
  const label = typeof children === 'string' ? children.replace(/[[\]]/g, '') : ''
  const isOpen = current?.n === n && current.start === start
  return (
    <a
      className="cite"
      data-testid="citation"
      data-n={n}
      data-start={start ?? undefined}
      data-end={end ?? undefined}
      href={`#source-${n}`}
      aria-label={text.citationOf(label, title)}
      title={title}
      aria-current={isOpen ? 'true' : undefined}
      onClick={(event: MouseEvent<HTMLElement>) => {
        event.preventDefault()
        open({ n, start, end }, event.currentTarget)
      }}
    >
      {children}
    </a>
  )
}
