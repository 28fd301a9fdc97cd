import type { Requirement, StateResponse } from '../api/types'
import { finalSection } from './apply-report'
import { EMPTY, type SectionView, type View } from './view'

/**
 * The view that `GET /state` describes; equal to the one all events up to its cursor lead to.
 * Sections that did not change keep their identity, so that nothing is drawn twice.
 */
export function fromState(state: StateResponse, previous?: View): View {
  const { values } = state
  const sections = (values.sections ?? [])
    .map(finalSection)
    .sort((a, b) => a.index - b.index)
    .map((section) => keep(section, previous))
  const versions = values.versions ?? []
  const version = Math.max(0, ...versions.map((v) => v.version), ...sections.map((s) => s.version))
  return {
    ...EMPTY,
    threadId: state.thread_id,
    question: state.question,
    title: state.title ?? '',
    status: state.status,
    stopping: state.stopping,
    run: state.run,
    queue: state.queue,
    interrupts: state.interrupts,
    interruptedByRestart: state.interrupted_by_restart,
    problem: state.run?.problem ?? null,
    cursor: state.cursor,
    plan: values.plan ?? [],
    searches: values.searches ?? [],
    sources: values.sources ?? [],
    findings: values.findings ?? [],
    openQuestions: values.open_questions ?? [],
    version,
    partial: versions.find((v) => v.version === version)?.partial ?? false,
    sections,
    versions,
    requirements: (values.requirements ?? []).map(requirement),
    excluded: values.excluded ?? [],
    pinned: values.pinned ?? [],
    usage: state.usage,
    createdAt: state.created_at,
    startedAt: state.started_at,
    endedAt: state.ended_at,
    failures: (values.page_failures ?? []).map(({ url, reason }) => ({ what: url, reason })),
    // Not part of the state: kept from the events this page has seen.
    retries: previous?.retries ?? [],
  }
}

function keep(section: SectionView, previous: View | undefined): SectionView {
  const old = previous?.sections.find((s) => s.index === section.index)
  return old !== undefined && JSON.stringify(old) === JSON.stringify(section) ? old : section
}

function requirement(item: Requirement): Requirement {
  return item.status === 'accepted' ? { ...item, status: 'queued' } : item
}
