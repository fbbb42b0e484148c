-- People and groups that identity providers provisioned by SCIM (package scim). The account of a user is that of its
-- identity (identities.issuer and subject); it may have none yet.
CREATE TABLE scim_users (
    id             {{id}},
    issuer         {{text}} NOT NULL, -- of the provider, as in identities
    subject        {{text}} NOT NULL, -- externalId: who it is at the provider
    user_name      {{text}} NOT NULL,
    user_folded    {{text}} NOT NULL,
    display_folded {{text}} NOT NULL,
    active         BOOLEAN NOT NULL,
    admin          BOOLEAN NOT NULL,  -- a role says that the user administers the site
    attributes     {{text}} NOT NULL, -- JSON: what else the provider sent, to answer it
    stale          BIGINT NOT NULL,   -- 0: groups and role were followed; 1: they have changed; else who follows them
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    UNIQUE (issuer, subject),
    UNIQUE (issuer, user_folded)
);
CREATE INDEX scim_users_page ON scim_users (issuer, id);
CREATE INDEX scim_users_stale ON scim_users (issuer, id) WHERE stale > 0;
CREATE TABLE scim_groups (
    id          {{id}},
    issuer      {{text}} NOT NULL,
    external_id {{text}},
    name        {{text}} NOT NULL,
    name_folded {{text}} NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    UNIQUE (issuer, name_folded),
    UNIQUE (issuer, external_id)
);
CREATE INDEX scim_groups_page ON scim_groups (issuer, id);
CREATE TABLE scim_members (
    group_id  BIGINT NOT NULL REFERENCES scim_groups (id) ON DELETE CASCADE,
    person_id BIGINT NOT NULL REFERENCES scim_users (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, person_id)
);
CREATE INDEX scim_members_person ON scim_members (person_id);
