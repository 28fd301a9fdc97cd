import { memo, useLayoutEffect, useMemo, useRef } from 'react'

import { useText } from '../../i18n/text'
import { cut } from '../../shared/codepoints'
import type { Passage } from '../../shared/passage'

/** The stored text with the passage marked and in view. */
export const Snapshot = memo(function Snapshot({
  text,
  passage,
}: {
  text: string
  passage: Passage
}) {
  const words = useText()
  const mark = useRef<HTMLElement>(null)
  const { start, end } = passage
  const parts = useMemo(
    () => (start === null || end === null ? null : cut(text, start, end)),
    [text, start, end],
  )
  useLayoutEffect(() => {
    const frame = mark.current?.closest('.snapshot')
    if (!frame || mark.current === null) return
    const offset = mark.current.getBoundingClientRect().top - frame.getBoundingClientRect().top
    frame.scrollTop += offset - frame.clientHeight / 4
  }, [parts])
  return (
    <>
      <p className="quiet snapshot-note">{words.sourceStored}</p>
      <div
        className="snapshot"
        dir="auto"
        tabIndex={0}
        role="group"
        aria-label={words.sourceStored}
      >
        {parts === null ? (
          text
        ) : (
          <>
            {parts.before}
            <mark ref={mark} data-testid="passage">
              {parts.inside}
            </mark>
            {parts.after}
          </>
        )}
      </div>
    </>
  )
})
