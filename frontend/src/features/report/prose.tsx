import { type ComponentProps, memo, useMemo } from 'react'
import Markdown, { type Components } from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'

import type { Citation, Sentence } from '../../api/types'
import { useText } from '../../i18n/text'
import { CitationMark } from './citation'
import { rehypeMarks } from './marks'

/** Pictures would be requests to other hosts, and form fields have no use here. */
const schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter(
    (name) => !['img', 'input', 'picture', 'source'].includes(name),
  ),
}

const NONE: never[] = []
const remarkPlugins = [remarkGfm]

interface Props {
  markdown: string
  title?: string
  citations?: Citation[]
  sentences?: Sentence[]
}

/** Markdown as set text. Drawn again only when its own text changes. */
export const Prose = memo(function Prose(props: Props) {
  const { markdown, title = '', citations = NONE, sentences = NONE } = props
  const rehypePlugins = useMemo(
    (): ComponentProps<typeof Markdown>['rehypePlugins'] => [
      [rehypeSanitize, schema],
      [rehypeMarks, { citations, sentences, title }],
    ],
    [citations, sentences, title],
  )
  return (
    <Markdown remarkPlugins={remarkPlugins} rehypePlugins={rehypePlugins} components={components}>
      {markdown}
    </Markdown>
  )
})

function OutsideLink({ href, children }: ComponentProps<'a'>) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** Quiet unless the check has changed the sentence; its reason then says why. */
function Sentenced(
  props: ComponentProps<'span'> & { 'data-verdict'?: string; 'data-reason'?: string },
) {
  const text = useText()
  const { children, 'data-verdict': verdict, 'data-reason': reason } = props
  if (verdict === undefined) return <span className="nowrap">{children}</span>
  const title = verdict === 'repaired' ? (reason ?? text.verdictRepaired) : undefined
  return (
    <span data-verdict={verdict} title={title}>
      {children}
    </span>
  )
}

function Table({ children }: ComponentProps<'table'>) {
  return (
    <div className="table-frame" tabIndex={0} role="group">
      <table>{children}</table>
    </div>
  )
}

const components: Components = {
  a: OutsideLink,
  cite: CitationMark,
  span: Sentenced,
  table: Table,
}
