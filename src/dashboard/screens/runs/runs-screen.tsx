import { useParams } from 'wouter'
import { RunDetail } from './run-detail.tsx'
import { RunList } from './run-list.tsx'

export default function RunsScreen() {
  const { id } = useParams<{ id?: string }>()
  return id === undefined ? <RunList /> : <RunDetail key={id} id={id} />
}
