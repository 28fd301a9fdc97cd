import { useEffect, useState } from 'react'

import type { Link } from '../api/follow'
import { problemLine } from '../i18n/problems'
import { useText } from '../i18n/text'

/** A quiet line while the stream is away; a blink of the network is not worth one. */
export function LinkBanner({ link }: { link: Link }) {
  const text = useText()
  const lost = link.state === 'lost'
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(lost), lost ? 1500 : 0)
    return () => clearTimeout(timer)
  }, [lost])
  if (!lost || !shown) return null
  const known = link.problem !== null && link.problem.status > 0
  const line = known && link.problem ? problemLine(text, link.problem.problem) : text.linkLost
  return (
    <p className="banner" role="status">
      {navigator.onLine ? line : text.linkOffline}
    </p>
  )
}
