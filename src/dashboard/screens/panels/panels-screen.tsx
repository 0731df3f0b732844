import { useParams } from 'wouter'
import { PanelEditor } from './panel-editor.tsx'
import { PanelList } from './panel-list.tsx'

export default function PanelsScreen() {
  const { name } = useParams<{ name?: string }>()
  return name === undefined ? <PanelList /> : <PanelEditor key={name} name={name} />
}
