import type { Table, TextKey } from './en'

const NODES: Record<string, TextKey> = {
  intent: 'nodeIntent',
  clarify: 'nodeClarify',
  scope: 'nodeScope',
  plan: 'nodePlan',
  review: 'nodeReview',
  retrieve: 'nodeRetrieve',
  read: 'nodeRead',
  analyse: 'nodeAnalyse',
  reflect: 'nodeReflect',
  write: 'nodeWrite',
  verify: 'nodeVerify',
  finish: 'nodeFinish',
}

/** What a node of the workflow does, in words; a node we do not know goes by its name. */
export function nodeText(text: Table, node: string): string {
  const key = NODES[node]
  return key === undefined ? node : text[key]
}
