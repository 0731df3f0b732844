/** Who works: vendors of models, workflows, agents, and which tools each agent may use. */
export const AGENTS = `
CREATE FUNCTION update_updated_at_column() RETURNS TRIGGER AS $$
BEGIN
  NEW.updated_at = NOW();
  RETURN NEW;
END;
$$ LANGUAGE plpgsql;

CREATE TABLE llm_providers (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  name VARCHAR(100) NOT NULL UNIQUE,
  display_name VARCHAR(200) NOT NULL,
  api_base_url TEXT,
  is_enabled BOOLEAN NOT NULL DEFAULT TRUE,
  created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE TRIGGER update_llm_providers_updated_at BEFORE UPDATE ON llm_providers
  FOR EACH ROW EXECUTE FUNCTION update_updated_at_column();
INSERT INTO llm_providers (name, display_name, api_base_url) VALUES
  ('anthropic', 'Anthropic', 'https://api.anthropic.com/v1'),
  ('google', 'Google', 'https://generativelanguage.googleapis.com/v1beta'),
  ('openai', 'OpenAI', 'https://api.openai.com/v1'),
  ('rehearsal', 'Rehearsal (a script, no model)', NULL);

CREATE TABLE workflows (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  is_active BOOLEAN NOT NULL DEFAULT TRUE,
  created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  UNIQUE (user_id, name)
);
CREATE TRIGGER update_workflows_updated_at BEFORE UPDATE ON workflows
  FOR EACH ROW EXECUTE FUNCTION update_updated_at_column();

CREATE TABLE agents (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  workflow_id UUID NOT NULL REFERENCES workflows(id) ON DELETE CASCADE,
  llm_provider_id UUID NOT NULL REFERENCES llm_providers(id),
  name VARCHAR(200) NOT NULL,
  description TEXT,
  system_prompt TEXT,
  model VARCHAR(200) NOT NULL DEFAULT 'claude-sonnet-4-5-20250929',
  temperature DOUBLE PRECISION NOT NULL DEFAULT 0.7,
  max_tokens INTEGER NOT NULL DEFAULT 1024,
  is_active BOOLEAN NOT NULL DEFAULT TRUE,
  -- The panel file that this agent mirrors, and the hash of its content; null for agents made by command or API.
  source_path TEXT,
  source_hash TEXT,
  created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE UNIQUE INDEX agents_name ON agents (workflow_id, name) WHERE is_active;
CREATE TRIGGER update_agents_updated_at BEFORE UPDATE ON agents
  FOR EACH ROW EXECUTE FUNCTION update_updated_at_column();

CREATE TABLE agent_tool_permissions (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  agent_id UUID NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
  tool_name VARCHAR(100) NOT NULL,
  is_enabled BOOLEAN NOT NULL DEFAULT FALSE,
  config JSONB,
  created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  UNIQUE (agent_id, tool_name)
);
CREATE INDEX idx_agent_tool_permissions_agent_id ON agent_tool_permissions (agent_id);
CREATE TRIGGER update_agent_tool_permissions_updated_at BEFORE UPDATE ON agent_tool_permissions
  FOR EACH ROW EXECUTE FUNCTION update_updated_at_column();
`
