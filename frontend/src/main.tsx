import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

import { App } from './app/app'
import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/forms.css'
import './styles/thread.css'
import './styles/plan.css'
import './styles/activity.css'
import './styles/report.css'
import './styles/sources.css'

const root = document.getElementById('root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
