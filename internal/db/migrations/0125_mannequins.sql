-- Mannequins: accounts of kind 4, which stand for people of another server who have no account here (package
-- account). They hold no rights. One that is claimed gives all its rows to a user, and what stands for it here.
CREATE TABLE mannequins (
    host       {{text}} NOT NULL, -- of the other server
    login      {{text}} NOT NULL, -- there, folded
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- of kind 4, or the user who claimed it
    PRIMARY KEY (host, login)
);
CREATE INDEX mannequins_of_account ON mannequins (account_id);
