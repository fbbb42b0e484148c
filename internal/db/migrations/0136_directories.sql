-- secret: signs what a browser keeps of a sign-in whose password another server checked, as the hash of a password does.
-- suspended_at: when a comparison with the source suspended the account; it ends that suspension, and no other.
ALTER TABLE identities ADD COLUMN secret {{text}};
ALTER TABLE identities ADD COLUMN suspended_at BIGINT;
