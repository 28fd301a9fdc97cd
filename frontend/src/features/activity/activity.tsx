import { memo, useState } from 'react'

import { useText } from '../../i18n/text'
import type { View } from '../../state/view'
import { isActive } from '../../state/view'
import { SearchLog } from './search-log'
import { StepList } from './step-list'

/** What was done, in one line that unfolds. Open by itself only until there is text to read. */
export const Activity = memo(function Activity({ view }: { view: View }) {
  const text = useText()
  const [chosen, setChosen] = useState<boolean | null>(null)
  const failed = view.searches.filter(
    (search) => search.failed !== null && search.failed !== undefined,
  )
  const failures = failed.length + view.failures.length
  const parts = [
    view.searches.length > 0 ? text.searched(view.searches.length) : null,
    view.sources.length > 0 ? text.read(view.sources.length) : null,
    failures > 0 ? text.failedCount(failures) : null,
  ].filter((part) => part !== null)
  const open = chosen ?? (view.sections.length === 0 && isActive(view.status))
  // While the plan is under review it stands in the editor, not here too.
  const hasPlan = view.plan.length > 0 && view.status !== 'waiting'
  if (parts.length === 0 && !hasPlan) return null
  return (
    <section className="activity" aria-labelledby="activity-heading">
      <button
        type="button"
        className="activity-line"
        aria-expanded={open}
        aria-controls="activity-body"
        onClick={() => setChosen(!open)}
      >
        <span className="chevron" aria-hidden="true" />
        <span id="activity-heading">{text.activity}</span>
        <span className="quiet" data-testid="activity-counts">
          {parts.join(text.comma)}
        </span>
      </button>
      <div id="activity-body" className="activity-body" hidden={!open}>
        {hasPlan && <StepList steps={view.plan} running={view.running} />}
        <SearchLog view={view} />
      </div>
    </section>
  )
})
