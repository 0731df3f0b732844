import { useLocalStorage } from '@mantine/hooks'
import { useLocation } from 'wouter'
import { words as common } from '../components/words.ts'
import { useWords } from '../i18n/language.tsx'
import { useLiveEvents } from '../live/live-provider.tsx'
import { routes } from '../routes.ts'
import { words } from './words.ts'

export const ALERTS = ['off', 'on', 'sound'] as const
export type AlertSetting = (typeof ALERTS)[number]

/** Of this browser. Counts once the browser itself allows notices. */
export function useAlertSetting() {
  return useLocalStorage<AlertSetting>({ key: 'kogu-alerts', defaultValue: 'on' })
}

/** On every screen, for those who have turned alerts on. A notice names the tool and the risk, and nothing of what it is given. */
export function useAlerts(): void {
  const t = useWords(words)
  const c = useWords(common)
  const [setting] = useAlertSetting()
  const [, navigate] = useLocation()
  useLiveEvents(event => {
    if (event.type !== 'approval.created' || document.visibilityState === 'visible' || setting === 'off')
      return
    if (!('Notification' in window) || Notification.permission !== 'granted') return
    const notice = new Notification(t('alertTitle', { tool: event.tool }), {
      tag: event.approval,
      body: c(event.risk === 'low' ? 'lowRisk' : 'highRisk'),
    })
    if (setting === 'sound') beep()
    notice.onclick = () => {
      window.focus()
      navigate(routes.approval(event.approval))
    }
  })
}

const BEEP_SECONDS = 0.15

/** A short tone, made here: no file has to be loaded. */
function beep(): void {
  const audio = new AudioContext()
  const tone = audio.createOscillator()
  tone.frequency.value = 660
  tone.connect(audio.destination)
  tone.onended = () => void audio.close()
  tone.start()
  tone.stop(audio.currentTime + BEEP_SECONDS)
}
