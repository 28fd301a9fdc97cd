import { memo, useMemo } from 'react'

import { useText } from '../../i18n/text'
import { ProblemNote } from '../../shared/problem-note'
import { isActive, type View } from '../../state/view'
import { Downloads } from './downloads'
import { ReportSection } from './section'
import { SourceTitles } from './source-titles'
import type { ShownReport } from './use-shown-report'
import { Versions } from './versions'

interface Props {
  view: View
  shown: ShownReport
}

/** The report: the version being written or written last, or an older one that was chosen. */
export const Report = memo(function Report({ view, shown }: Props) {
  const text = useText()
  const titles = useMemo(
    () => new Map(view.sources.map((source) => [source.n, source.title])),
    [view.sources],
  )
  const { sections, version, isOld } = shown
  if (sections.length === 0) return null
  const writing = !isOld && isActive(view.status)
  const finished = view.versions.some((entry) => entry.version === version)
  return (
    <SourceTitles value={titles}>
      <article
        className="report"
        data-testid="report"
        data-version={version}
        data-writing={writing}
        aria-label={text.report}
      >
        <div className="report-tools">
          <Versions versions={view.versions} shown={version} onShow={shown.show} />
          {finished && <Downloads threadId={view.threadId} version={version} />}
        </div>
        {isOld && (
          <p className="note">
            {text.versionOld}{' '}
            <button type="button" className="plain" onClick={() => shown.show(null)}>
              {text.versionLatest}
            </button>
          </p>
        )}
        {shown.partial && <p className="note">{text.reportPartial}</p>}
        <ProblemNote problem={shown.problem} />
        {sections.map((section) => (
          <ReportSection key={section.index} section={section} writing={writing} />
        ))}
      </article>
    </SourceTitles>
  )
})
