import { useParams } from 'wouter'
import { PipelineEditor } from './pipeline-editor.tsx'
import { PipelineList } from './pipeline-list.tsx'

export default function PipelinesScreen() {
  const { name } = useParams<{ name?: string }>()
  return name === undefined ? <PipelineList /> : <PipelineEditor key={name} name={name} />
}
