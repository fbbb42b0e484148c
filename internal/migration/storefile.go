package migration

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/attachment"
	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/release"
	"arbor/internal/repo"
)

// insertFile inserts the row of a file's record, and returns its id.
func (b *batch) insertFile(r *row, f *file.File, releases map[string]int64) (id int64, err error) {
	now := b.tx.Now
	switch x := r.Record.(type) {
	case *Asset:
		err = b.tx.QueryRow(`INSERT INTO release_assets (release_id, repo_id, file_id, name, label, content_type, uploader_id,
			downloads, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			ON CONFLICT (release_id, name) DO UPDATE SET name = excluded.name RETURNING id`,
			releases[x.Release], b.im.a.ID, f.ID, x.Name, x.Label, release.CleanType(x.ContentType), b.uploader(x.Uploader), max(0, x.Downloads),
			past(x.CreatedAt, now), past(x.UpdatedAt, now)).Scan(&id)
	case *LFSObject:
		err = b.tx.QueryRow(`INSERT INTO lfs_objects (repo_id, file_id, oid, size) VALUES ($1, $2, $3, $4) RETURNING id`,
			b.im.a.ID, f.ID, x.OID, f.Size).Scan(&id)
	case *Attachment:
		key, keyErr := b.newAttachment(x)
		if keyErr != nil {
			return 0, keyErr
		}
		err = b.tx.QueryRow(`INSERT INTO attachments (repo_id, file_id, address_key, name, content_type, size, uploader_id,
			created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`, b.im.a.ID, f.ID, key, x.Name,
			attachment.CleanType(x.ContentType), f.Size, b.uploader(x.Uploader), past(x.CreatedAt, now)).Scan(&id)
	}
	return id, err
}

// keyTaken reports whether an attachment has a key.
func keyTaken(tx *db.Tx, key string) (taken bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM attachments WHERE address_key = $1)`, key).Scan(&taken)
	return taken, err
}

// attachmentKeys returns the keys of attachments that were brought: those at the source, and those here.
func attachmentKeys(tx *db.Tx, id repo.ID) (map[string]string, error) {
	return db.QueryMap[string, string](tx, `SELECT m.source_id, x.address_key FROM imported m
		JOIN attachments x ON x.id = m.local_id WHERE m.repo_id = $1 AND m.kind = $2`, id, codes[Attachments])
}

// refsNamed returns which refs there are.
func refsNamed(tx *db.Tx, id repo.ID, refs []string) (map[string]string, error) {
	found := map[string]string{}
	return found, db.InParts(refs, func(part []string) error {
		some, err := db.QueryMap[string, string](tx, `SELECT name, sha FROM refs WHERE repo_id = $1 AND name IN `+
			db.ValuesFrom(2, 1, len(part)), db.Args(part, id)...)
		for name, sha := range some {
			found[name] = sha
		}
		return err
	})
}

// publishedTags returns the published releases by their tags.
func publishedTags(tx *db.Tx, id repo.ID) (map[string]int64, error) {
	return db.QueryMap[string, int64](tx, `SELECT tag, id FROM releases WHERE repo_id = $1 AND draft = FALSE`, id)
}

// writeReleases writes releases; the last of those that say so is the latest.
func (b *batch) writeReleases(list []*row, tags map[string]bool) error {
	now := b.tx.Now
	for _, r := range list {
		x := r.Record.(*Release)
		choice, err := release.ReadChoice(x.MakeLatest)
		if err != nil {
			choice = release.Legacy
		}
		draft, published := x.Draft, b.optionalTime(x.PublishedAt)
		if !draft && !tags[x.Tag] {
			draft = true
			b.note("%s came as a draft: its tag is not there", describe(x))
		}
		if !draft && x.PublishedAt.IsZero() {
			published = past(x.CreatedAt, now)
		}
		latest := x.Latest && !draft && !x.Prerelease
		if latest {
			if err := b.tx.Run(`UPDATE releases SET latest = FALSE WHERE repo_id = $1 AND latest = TRUE`, b.im.a.ID); err != nil {
				return err
			}
		}
		publisher := b.im.people.id(x.Publisher)
		if x.Publisher == "" {
			publisher = b.im.people.id(x.Author)
		}
		args := []any{r.id, b.im.a.ID, b.im.people.id(x.Author), publisher, x.Tag, x.Target, x.Name,
			b.im.texts.optional(x.Body), draft, x.Prerelease, int64(choice), latest, past(x.CreatedAt, now), published,
			past(x.UpdatedAt, now)}
		err = b.tx.Run(`INSERT INTO releases (id, repo_id, author_id, publisher_id, tag, target, name, body, draft,
			prerelease, choice, latest, created_at, published_at, updated_at) VALUES `+db.Values(1, len(args))+`
			ON CONFLICT (id) DO UPDATE SET tag = excluded.tag, target = excluded.target, name = excluded.name,
			body = excluded.body, draft = excluded.draft, prerelease = excluded.prerelease, choice = excluded.choice,
			latest = excluded.latest, published_at = excluded.published_at, updated_at = excluded.updated_at`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// rulesetID finds a ruleset by its name; 0: there is none.
func rulesetID(tx *db.Tx, id repo.ID, r *Ruleset) (found int64, err error) {
	err = tx.QueryRow(`SELECT id FROM rulesets WHERE repo_id = $1 AND protection = $2 AND name = $3`, id, r.Protection,
		r.Name).Scan(&found)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return found, err
}

// teamsBySlug returns the teams of an owner.
func teamsBySlug(tx *db.Tx, owner account.ID) (map[string]int64, error) {
	return db.QueryMap[string, int64](tx, `SELECT slug, id FROM teams WHERE org_id = $1`, owner)
}

// appsBySlug returns the Apps that are installed on an owner.
func appsBySlug(tx *db.Tx, owner account.ID) (map[string]int64, error) {
	return db.QueryMap[string, int64](tx, `SELECT p.slug, p.id FROM apps p JOIN installations i ON i.app_id = p.id
		WHERE i.account_id = $1`, owner)
}

// actorsOf returns what may be called by an id in rules of a repository.
func (e *exporter) actorsOf() (n actorNames, err error) {
	if n.teams, err = db.QueryMap[int64, string](e.tx, `SELECT id, slug FROM teams WHERE org_id = $1`,
		e.a.OwnerID); err != nil {
		return n, err
	}
	if n.apps, err = db.QueryMap[int64, string](e.tx, `SELECT p.id, p.slug FROM apps p JOIN installations i
		ON i.app_id = p.id WHERE i.account_id = $1`, e.a.OwnerID); err != nil {
		return n, err
	}
	bodies, err := db.QueryTexts(e.tx, `SELECT body FROM rulesets WHERE repo_id = $1`, e.a.ID)
	if err != nil {
		return n, err
	}
	var users []account.ID
	for _, body := range bodies {
		v, err := decodeBody([]byte(body))
		if err != nil {
			return n, err
		}
		eachActor(v, func(kind string, actor any) any {
			if id, err := number(actor); err == nil && kind == "users" {
				users = append(users, account.ID(id))
			}
			return actor
		})
	}
	n.users = map[int64]string{}
	found, err := account.ByIDs(e.tx, users)
	for id, a := range found {
		n.users[int64(id)] = a.Login
	}
	return n, err
}
