-- Codes for which the program that asked for an App by its manifest gets the App's keys, once.
CREATE TABLE app_codes (
    code       {{bytes}} NOT NULL PRIMARY KEY, -- SHA-256
    app_id     BIGINT NOT NULL UNIQUE REFERENCES apps (id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL
);
