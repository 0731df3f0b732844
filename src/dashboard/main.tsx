import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './styles.ts'
import { createQueryClient } from './api/query-client.ts'
import { LanguageProvider } from './i18n/language.tsx'
import { LiveProvider } from './live/live-provider.tsx'
import { Shell } from './shell/shell.tsx'
import { cssVariables, theme } from './theme.ts'

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no #root.')

const queries = createQueryClient()

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <LanguageProvider>
        <QueryClientProvider client={queries}>
          <LiveProvider>
            <Notifications position="bottom-right" limit={3} />
            <Shell />
          </LiveProvider>
        </QueryClientProvider>
      </LanguageProvider>
    </MantineProvider>
  </StrictMode>,
)
