import {
  Activity,
  Boxes,
  CircleDollarSign,
  Cog,
  Cpu,
  Hand,
  House,
  type LucideIcon,
  PanelsTopLeft,
  Plug,
  ScrollText,
  Shield,
  Workflow,
} from 'lucide-react'
import { type ComponentType, lazy } from 'react'

/** A screen is one entry here, one folder in `screens/`, and its words. */
export interface Screen {
  readonly key: ScreenKey
  readonly path: string
  /** Patterns of the addresses that it shows. */
  readonly patterns: readonly string[]
  readonly icon: LucideIcon
  /** After `g`. */
  readonly letter?: string
  readonly component: ComponentType
}

export type ScreenKey =
  | 'home'
  | 'panels'
  | 'pipelines'
  | 'runs'
  | 'approvals'
  | 'audit'
  | 'tools'
  | 'permissions'
  | 'providers'
  | 'mcp'
  | 'usage'
  | 'settings'

export const SCREENS: readonly Screen[] = [
  {
    key: 'home',
    path: '/',
    patterns: ['/'],
    icon: House,
    letter: 'h',
    component: lazy(() => import('../screens/home/home-screen.tsx')),
  },
  {
    key: 'panels',
    path: '/panels',
    patterns: ['/panels', '/panels/:name'],
    icon: PanelsTopLeft,
    letter: 'p',
    component: lazy(() => import('../screens/panels/panels-screen.tsx')),
  },
  {
    key: 'pipelines',
    path: '/pipelines',
    patterns: ['/pipelines', '/pipelines/:name'],
    icon: Workflow,
    letter: 'l',
    component: lazy(() => import('../screens/pipelines/pipelines-screen.tsx')),
  },
  {
    key: 'runs',
    path: '/runs',
    patterns: ['/runs', '/runs/:id'],
    icon: Activity,
    letter: 'r',
    component: lazy(() => import('../screens/runs/runs-screen.tsx')),
  },
  {
    key: 'approvals',
    path: '/approvals',
    patterns: ['/approvals', '/approvals/:id'],
    icon: Hand,
    letter: 'a',
    component: lazy(() => import('../screens/approvals/approvals-screen.tsx')),
  },
  {
    key: 'audit',
    path: '/audit',
    patterns: ['/audit'],
    icon: ScrollText,
    letter: 'u',
    component: lazy(() => import('../screens/audit/audit-screen.tsx')),
  },
  {
    key: 'tools',
    path: '/tools',
    patterns: ['/tools', '/tools/:name'],
    icon: Boxes,
    component: lazy(() => import('../screens/tools/tools-screen.tsx')),
  },
  {
    key: 'permissions',
    path: '/permissions',
    patterns: ['/permissions'],
    icon: Shield,
    component: lazy(() => import('../screens/permissions/permissions-screen.tsx')),
  },
  {
    key: 'providers',
    path: '/providers',
    patterns: ['/providers'],
    icon: Cpu,
    component: lazy(() => import('../screens/providers/providers-screen.tsx')),
  },
  {
    key: 'mcp',
    path: '/servers',
    patterns: ['/servers', '/servers/:server'],
    icon: Plug,
    component: lazy(() => import('../screens/mcp/mcp-screen.tsx')),
  },
  {
    key: 'usage',
    path: '/usage',
    patterns: ['/usage'],
    icon: CircleDollarSign,
    component: lazy(() => import('../screens/usage/usage-screen.tsx')),
  },
  {
    key: 'settings',
    path: '/settings',
    patterns: ['/settings'],
    icon: Cog,
    component: lazy(() => import('../screens/settings/settings-screen.tsx')),
  },
]
