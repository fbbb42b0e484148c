package migration

import (
	"strings"

	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/release"
	"arbor/internal/rule"
)

func (e *exporter) readReleases() (string, func(db.Scanner) (Record, error)) {
	return `SELECT r.id, r.tag, r.target, r.name, r.body, r.draft, r.prerelease, r.choice, r.latest, a.login, p.login,
			r.created_at, r.published_at, r.updated_at FROM releases r LEFT JOIN accounts a ON a.id = r.author_id
		LEFT JOIN accounts p ON p.id = r.publisher_id WHERE r.repo_id = $1 AND r.deleted_at IS NULL
		ORDER BY r.id`,
		func(row db.Scanner) (Record, error) {
			var r Release
			var choice release.Choice
			var author, publisher *string
			var made, published, changed db.Time
			err := row.Scan(&r.ID, &r.Tag, &r.Target, &r.Name, &r.Body, &r.Draft, &r.Prerelease, &choice, &r.Latest, &author,
				&publisher, &made, &published, &changed)
			r.MakeLatest, r.Author, r.Publisher = choice.String(), e.named(author), e.named(publisher)
			r.CreatedAt, r.PublishedAt, r.UpdatedAt = at(made), at(published), at(changed)
			return &r, err
		}
}

// fileOf notes a file to be copied, and returns what the record says of it.
func (e *exporter) fileOf(path string, f file.File) File {
	e.files = append(e.files, stored{path, f})
	return File{Path: path, Size: f.Size, SHA256: f.SHA256}
}

func (e *exporter) readAssets() (string, func(db.Scanner) (Record, error)) {
	return `SELECT x.id, x.release_id, x.name, x.label, x.content_type, a.login, x.downloads, x.created_at, x.updated_at,
			f.id, f.name, f.size, f.sha256, f.depot_id FROM release_assets x JOIN releases r ON r.id = x.release_id
		JOIN files f ON f.id = x.file_id LEFT JOIN accounts a ON a.id = x.uploader_id WHERE r.repo_id = $1
			AND r.deleted_at IS NULL ORDER BY x.id`,
		func(row db.Scanner) (Record, error) {
			var x Asset
			var f file.File
			var uploader *string
			var made, changed db.Time
			err := row.Scan(&x.ID, &x.Release, &x.Name, &x.Label, &x.ContentType, &uploader, &x.Downloads, &made, &changed,
				&f.ID, &f.Name, &f.Size, &f.SHA256, &f.Depot)
			x.Uploader, x.CreatedAt, x.UpdatedAt = e.named(uploader), at(made), at(changed)
			x.File = e.fileOf("assets/"+x.ID, f)
			return &x, err
		}
}

func (e *exporter) readLFS() (string, func(db.Scanner) (Record, error)) {
	return `SELECT x.oid, f.id, f.name, f.size, f.sha256, f.depot_id FROM lfs_objects x JOIN files f ON f.id = x.file_id
		WHERE x.repo_id = $1 ORDER BY x.id`,
		func(row db.Scanner) (Record, error) {
			var o LFSObject
			var f file.File
			err := row.Scan(&o.OID, &f.ID, &f.Name, &f.Size, &f.SHA256, &f.Depot)
			o.File = e.fileOf("lfs/"+o.OID, f)
			return &o, err
		}
}

func (e *exporter) readAttachments() (string, func(db.Scanner) (Record, error)) {
	return `SELECT x.address_key, x.name, x.content_type, a.login, x.created_at, f.id, f.name, f.size, f.sha256, f.depot_id
		FROM attachments x JOIN files f ON f.id = x.file_id LEFT JOIN accounts a ON a.id = x.uploader_id
		WHERE x.repo_id = $1 ORDER BY x.id`,
		func(row db.Scanner) (Record, error) {
			var x Attachment
			var f file.File
			var uploader *string
			var made db.Time
			err := row.Scan(&x.ID, &x.Name, &x.ContentType, &uploader, &made, &f.ID, &f.Name, &f.Size, &f.SHA256, &f.Depot)
			x.Uploader, x.CreatedAt = e.named(uploader), at(made)
			x.File = e.fileOf("attachments/"+x.ID, f)
			return &x, err
		}
}

func (e *exporter) readRulesets() (string, func(db.Scanner) (Record, error)) {
	return `SELECT s.id, s.protection, s.name, s.target, s.enforcement, s.body FROM rulesets s WHERE s.repo_id = $1
		ORDER BY s.id`,
		func(row db.Scanner) (Record, error) {
			var r Ruleset
			var target rule.Target
			var enforcement rule.Enforcement
			var body string
			err := row.Scan(&r.ID, &r.Protection, &r.Name, &target, &enforcement, &body)
			if err != nil {
				return nil, err
			}
			r.Target, r.Enforcement = target.String(), enforcement.String()
			r.Body, err = e.namedBody(body)
			return &r, err
		}
}

func (e *exporter) readHooks() (string, func(db.Scanner) (Record, error)) {
	return `SELECT h.id, h.url, h.form, h.insecure, h.active, h.events, h.secret IS NOT NULL FROM hooks h
		WHERE h.repo_id = $1 ORDER BY h.id`,
		func(row db.Scanner) (Record, error) {
			var h Hook
			var form bool
			var events string
			err := row.Scan(&h.ID, &h.URL, &form, &h.Insecure, &h.Active, &events, &h.HadSecret)
			h.ContentType = map[bool]string{false: "json", true: "form"}[form]
			h.Events = strings.Split(strings.Trim(events, ","), ",")
			return &h, err
		}
}
