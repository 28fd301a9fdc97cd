import type { Section, StreamEvent } from '../api/types'
import { upsert } from './upsert'
import type { SectionView, View } from './view'

/** The part of `apply` that writes the report: sections, their tokens, versions. */
export function applyToReport(view: View, { name, data }: StreamEvent): View {
  switch (name) {
    case 'section.started':
      return sectionStarted(view, data as unknown as Section & { total?: number })
    case 'token':
      return token(view, Number(data['section']), String(data['text']))
    case 'section':
      return section(view, data as unknown as Section)
    case 'report':
      return reported(view, data)
    default:
      return view
  }
}

function sectionStarted(view: View, data: Section & { total?: number }): View {
  if (data.version < view.version) return view
  const opened: SectionView = {
    version: data.version,
    index: data.index,
    title: data.title,
    open: true,
    text: '',
    citations: [],
    sentences: [],
  }
  return {
    ...view,
    version: data.version,
    total: data.total ?? (data.version > view.version ? null : view.total),
    sections: placed(view.sections, opened),
  }
}

function token(view: View, index: number, text: string): View {
  const old = view.sections.find((s) => s.index === index)
  if (old?.open !== true) return view // late for a section that is final: its text stands
  return { ...view, sections: placed(view.sections, { ...old, text: old.text + text }) }
}

function section(view: View, data: Section): View {
  if (data.version < view.version) return view
  return { ...view, version: data.version, sections: placed(view.sections, finalSection(data)) }
}

function reported(view: View, data: Record<string, unknown>): View {
  const version = Number(data['version'])
  const total = view.total
  const entry = { version, ts: (data['ts'] as string | undefined) ?? '' }
  return {
    ...view,
    version: Math.max(version, view.version),
    title: (data['title'] as string | undefined) ?? view.title,
    partial: data['partial'] === true,
    // A rewrite may need fewer sections than its predecessor had.
    sections: total === null ? view.sections : view.sections.filter((s) => s.index < total),
    versions: upsert(
      view.versions,
      { ...view.versions.find((v) => v.version === version), ...entry },
      (v) => v.version === version,
    ),
  }
}

export function finalSection(data: Section): SectionView {
  return {
    version: data.version,
    index: data.index,
    title: data.title,
    open: false,
    text: data.markdown,
    citations: data.citations,
    sentences: data.sentences,
  }
}

function placed(sections: SectionView[], item: SectionView): SectionView[] {
  return upsert(sections, item, (s) => s.index === item.index).sort((a, b) => a.index - b.index)
}
