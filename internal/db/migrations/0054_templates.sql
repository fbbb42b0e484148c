-- Repositories from which others are made, and those that were made so.
ALTER TABLE repos ADD COLUMN is_template BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE repos ADD COLUMN template_id BIGINT REFERENCES repos (id) ON DELETE SET NULL; -- NULL: it was made of none
CREATE INDEX repos_of_template ON repos (template_id) WHERE template_id IS NOT NULL;
