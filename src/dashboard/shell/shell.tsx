import { AppShell, Button } from '@mantine/core'
import { useDisclosure, useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { Component, type ReactNode, Suspense, useState } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { toShownError, useGet } from '../api/api.ts'
import { Empty } from '../components/data-region.tsx'
import { Page } from '../components/page.tsx'
import { useWords } from '../i18n/language.tsx'
import { useAlerts } from './alerts.ts'
import { Palette } from './palette.tsx'
import { Rail } from './rail.tsx'
import { SCREENS } from './screens.ts'
import { ShortcutHelp, useShortcuts } from './shortcuts.tsx'
import { SignIn } from './sign-in.tsx'
import { TopBar } from './top-bar.tsx'
import { TrustBar } from './trust-bar.tsx'
import { useTabIcon, useTabTitle } from './waiting.ts'
import { words } from './words.ts'

/** Rail, top bar and the screen of the address. */
export function Shell() {
  const t = useWords(words)
  const [opened, menu] = useDisclosure(false)
  const [width, setWidth] = useLocalStorage({ key: 'kogu-rail', defaultValue: 'wide' })
  const isWide = useMediaQuery('(min-width: 768px)', true, { getInitialValueInEffect: false })
  const isNarrow = width === 'narrow' && isWide
  const signedOut = useSignedOut()
  const help = useShortcuts()
  const [path] = useLocation()
  useTabTitle()
  useTabIcon()
  useAlerts()
  return (
    <>
      {signedOut && <SignIn />}
      <div hidden={signedOut}>
        <AppShell
          header={{ height: 48 }}
          navbar={{ width: isNarrow ? 56 : 208, breakpoint: 768, collapsed: { mobile: !opened } }}
          padding={{ base: 'sm', sm: 'lg' }}
        >
          <a className="kogu-skip" href="#main">
            {t('skip')}
          </a>
          <AppShell.Header>
            <TopBar menuOpened={opened} onMenu={menu.toggle} />
          </AppShell.Header>
          <AppShell.Navbar p="xs" aria-label={t('navigation')}>
            <Rail
              isNarrow={isNarrow}
              onNavigate={menu.close}
              {...(isWide ? { onToggle: () => setWidth(isNarrow ? 'wide' : 'narrow') } : {})}
            />
          </AppShell.Navbar>
          <AppShell.Main id="main">
            <TrustBar />
            <ScreenGuard path={path} message={t('missingChunk')} action={t('reload')}>
              <Suspense fallback={null}>
                <Switch>
                  {SCREENS.flatMap(({ patterns, component: Screen }) =>
                    patterns.map(pattern => <Route key={pattern} path={pattern} component={Screen} />),
                  )}
                  <Route>
                    <Page title={t('notFound')}>
                      <Button component={Link} href="/" style={{ alignSelf: 'flex-start' }}>
                        {t('goHome')}
                      </Button>
                    </Page>
                  </Route>
                </Switch>
              </Suspense>
            </ScreenGuard>
          </AppShell.Main>
          <Palette />
          <ShortcutHelp {...help} />
        </AppShell>
      </div>
    </>
  )
}

/**
 * True once a request was refused for want of a session. Nothing else is shown then: it would be a page of errors. It stays
 * behind what is shown, because somebody may have written something into it.
 */
function useSignedOut(): boolean {
  const { error, isSuccess } = useGet<unknown>('session', '/api/auth/session')
  const [isOut, setOut] = useState(false)
  const isRefused = error !== null && toShownError(error).status === 401
  // While it is asked for again nothing is known: the form with a half typed link stays.
  const now = isRefused ? true : isSuccess ? false : isOut
  if (now !== isOut) setOut(now)
  return now
}

interface GuardProps {
  readonly path: string
  readonly message: string
  readonly action: string
  readonly children: ReactNode
}

interface GuardState {
  readonly failed: boolean
  readonly path: string
}

/** A screen that cannot be loaded takes neither rail nor top bar with it, nor the screen that is opened next. */
class ScreenGuard extends Component<GuardProps, GuardState> {
  override state = { failed: false, path: this.props.path }

  static getDerivedStateFromError(): Pick<GuardState, 'failed'> {
    return { failed: true }
  }

  static getDerivedStateFromProps({ path }: GuardProps, before: GuardState): GuardState | null {
    return path === before.path ? null : { failed: false, path }
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children
    return (
      <Empty
        title={this.props.message}
        action={<Button onClick={() => window.location.reload()}>{this.props.action}</Button>}
      />
    )
  }
}
