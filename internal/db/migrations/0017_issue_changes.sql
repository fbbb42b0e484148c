-- With which issues_generation of its repository each issue changed last, in its
-- row or its postings: so who holds issues in memory reads only those that
-- changed since.
ALTER TABLE issues ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;
CREATE INDEX issues_changed ON issues (repo_id, changed);

-- Grows with every change of what issues show besides themselves: labels,
-- milestones, who collaborates. Whatever raises it raises issues_generation, too.
ALTER TABLE repos ADD COLUMN legend_generation BIGINT NOT NULL DEFAULT 0;
