import type { Step } from '../../api/types'
import type { TextKey } from '../../i18n/en'
import { useText } from '../../i18n/text'
import type { Running } from '../../state/view'

const STATUS: Record<string, TextKey> = {
  planned: 'stepPlanned',
  searched: 'stepSearched',
  read: 'stepRead',
  analysed: 'stepAnalysed',
  gap: 'stepGap',
}

/** The steps of the plan with how far each has come. */
export function StepList({ steps, running }: { steps: Step[]; running: Running[] }) {
  const text = useText()
  return (
    <ol className="steps" aria-label={text.planTitle}>
      {steps.map((step) => {
        const now = running.some((work) => work.step === step.id)
        const status = now ? 'now' : step.status
        const name = now ? 'stepNow' : STATUS[step.status]
        return (
          <li key={step.id} className="step" data-status={status}>
            <span className="step-mark" aria-hidden="true" />
            <span className="step-title" dir="auto">
              {step.title}
            </span>
            <span className="quiet">{name === undefined ? step.status : text[name]}</span>
          </li>
        )
      })}
    </ol>
  )
}
