-- Open invitations to organizations that were mailed to an address which no account had (package invitation). The row of
-- invitations has the organization as its invitee and has ended, so servers of versions before show it to nobody.
CREATE TABLE invited_addresses (
    invitation_id BIGINT NOT NULL PRIMARY KEY REFERENCES invitations (id) ON DELETE CASCADE,
    address       {{text}} NOT NULL, -- folded
    digest        {{bytes}},         -- SHA-256 of the secret in the mail's link; NULL: the mail was not sent yet
    digest_before {{bytes}}          -- that of the mail before, if it was sent twice
);
CREATE INDEX invited_addresses_address ON invited_addresses (address);
CREATE INDEX invited_addresses_digest ON invited_addresses (digest);
CREATE INDEX invited_addresses_digest_before ON invited_addresses (digest_before);
