import { type SyntheticEvent, useEffect, useRef, useState } from 'react'

import { enterKey } from '../api/auth'
import { useText } from '../i18n/text'

/** Asks for the API key; the page behind it keeps all that was typed. */
export function KeyGate({ refused }: { refused: boolean }) {
  const text = useText()
  const [key, setKey] = useState('')
  const [remember, setRemember] = useState(true)
  const dialog = useRef<HTMLDialogElement>(null)

  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])

  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (key.trim()) enterKey(key.trim(), remember)
  }
  return (
    <dialog
      ref={dialog}
      className="gate"
      aria-labelledby="gate-heading"
      onCancel={(event) => event.preventDefault()}
    >
      <form onSubmit={submit}>
        <h2 id="gate-heading">{text.keyTitle}</h2>
        <p className="quiet">{text.keyLead}</p>
        {refused && (
          <p className="problem" role="alert">
            {text.keyRefused}
          </p>
        )}
        <label htmlFor="api-key">{text.keyLabel}</label>
        <input
          id="api-key"
          data-testid="api-key"
          type="password"
          autoComplete="current-password"
          autoFocus
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        <label className="check">
          <input
            type="checkbox"
            checked={remember}
            onChange={(event) => setRemember(event.target.checked)}
          />
          <span>{text.keyRemember}</span>
        </label>
        <div className="row">
          <button type="submit" className="primary" data-testid="api-key-enter">
            {text.keyEnter}
          </button>
        </div>
      </form>
    </dialog>
  )
}
