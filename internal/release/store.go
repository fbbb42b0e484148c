package release

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const columns = `r.id, r.repo_id, r.author_id, r.publisher_id, r.tag, r.target, r.name, r.body, r.draft, r.prerelease,
	r.choice, r.latest, r.created_at, r.published_at, r.updated_at, COALESCE(r.deleted_at, 0)`

// scan reads columns. Error: 404 without a row.
func scan(row db.Scanner) (*Release, error) {
	var r Release
	err := row.Scan(&r.ID, &r.RepoID, &r.AuthorID, &r.PublisherID, &r.Tag, &r.Target, &r.Name,
		&r.Body, &r.Draft, &r.Prerelease, &r.Choice, &r.Latest, &r.CreatedAt, &r.PublishedAt, &r.UpdatedAt,
		&r.DeletedAt)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &r, err
}

func query(tx *db.Tx, rest string, args ...any) ([]*Release, error) {
	return queryColumns(tx, columns, rest, args...)
}

func queryColumns(tx *db.Tx, columns, rest string, args ...any) ([]*Release, error) {
	return db.QueryList(tx, scan, `SELECT `+columns+` FROM releases r`+rest, args...)
}

// byID finds a release of a repository. Error: 404.
func byID(tx *db.Tx, repoID repo.ID, id int64) (*Release, error) {
	return scan(tx.QueryRow(`SELECT `+columns+` FROM releases r WHERE r.repo_id = $1 AND r.id = $2
		AND r.deleted_at IS NULL`,
		repoID, id))
}

// Places finds the repositories of releases, for GraphQL. It checks no rights. It omits those that do not exist.
func Places(tx *db.Tx, ids []int64) (map[int64]repo.ID, error) {
	return db.QueryMap[int64, repo.ID](tx, `SELECT id, repo_id FROM releases WHERE id IN `+db.Values(1, len(ids)),
		db.Args(ids)...)
}

// byIDs finds releases of any repositories, in one query.
func byIDs(tx *db.Tx, ids []int64) ([]*Release, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return query(tx, ` WHERE r.deleted_at IS NULL AND r.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}

// byTags finds the releases of tags, drafts first, and of drafts the oldest first.
func byTags(tx *db.Tx, tags []repo.Of[string]) ([]*Release, error) {
	with, args := repo.Pairs(tags, "TEXT")
	return db.QueryList(tx, scan, with+`SELECT `+columns+` FROM v
		JOIN releases r ON r.repo_id = v.repo AND r.tag = v.key AND r.deleted_at IS NULL ORDER BY r.draft DESC, r.created_at, r.id`, args...)
}

// latestOfMany finds the latest release of each of several repositories.
func latestOfMany(tx *db.Tx, repos []*repo.Access) ([]*Release, error) {
	ids := repo.IDsOf(repos)
	return query(tx, ` WHERE r.latest = TRUE AND r.repo_id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}

// ofOne returns the condition on r for the releases of the repository $n that its caller may see.
func ofOne(n int, a *repo.Access) string {
	if seesDrafts(a) {
		return fmt.Sprintf(`r.repo_id = $%d AND r.deleted_at IS NULL`, n)
	}
	return fmt.Sprintf(`r.repo_id = $%d AND r.draft = FALSE`, n)
}

// countsOf counts the releases of each of several repositories.
func countsOf(tx *db.Tx, repos []*repo.Access) (map[repo.ID]int64, error) {
	parts := make([]string, len(repos))
	for n, a := range repos {
		parts[n] = `(` + ofOne(n+1, a) + `)`
	}
	return db.QueryMap[repo.ID, int64](tx, `SELECT r.repo_id, COUNT(*) FROM releases r WHERE `+
		strings.Join(parts, ` OR `)+` GROUP BY r.repo_id`, db.Args(repo.IDsOf(repos))...)
}

// listsOf reads a page of the releases of each of several repositories, the newest commit first.
func listsOf(tx *db.Tx, repos []*repo.Access, page web.Page) ([]*Release, error) {
	parts := make([]string, len(repos))
	for n, a := range repos {
		parts[n] = fmt.Sprintf(`SELECT id FROM (SELECT r.id FROM releases r WHERE %s
			ORDER BY r.created_at DESC, r.id DESC LIMIT $1 OFFSET $2) p%d`, ofOne(n+3, a), n)
	}
	return query(tx, ` WHERE r.id IN (`+strings.Join(parts, ` UNION ALL `)+`) ORDER BY r.created_at DESC, r.id DESC`,
		db.Args(repo.IDsOf(repos), page.Size, page.Offset())...)
}

// byTag finds the published release of a tag. Error: 404.
func byTag(tx *db.Tx, repoID repo.ID, tag string) (*Release, error) {
	return scan(tx.QueryRow(`SELECT `+columns+` FROM releases r WHERE r.repo_id = $1 AND r.tag = $2
		AND r.draft = FALSE`, repoID, tag))
}

// latestOf finds the latest release. Error: 404.
func latestOf(tx *db.Tx, repoID repo.ID) (*Release, error) {
	return scan(tx.QueryRow(`SELECT `+columns+` FROM releases r WHERE r.repo_id = $1 AND r.latest = TRUE`,
		repoID))
}

// maxFeedBody is how much of a release's text feeds show, in code points.
const maxFeedBody = 10_000

var feedColumns = strings.Replace(columns, "r.body", fmt.Sprintf("SUBSTR(r.body, 1, %d)", maxFeedBody), 1)

// published finds those of the releases that are published, in any repository, with the beginnings of
// their texts.
func published(tx *db.Tx, ids []int64) ([]*Release, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := make([]any, len(ids))
	for n, id := range ids {
		args[n] = id
	}
	return queryColumns(tx, feedColumns, ` WHERE r.draft = FALSE AND r.id IN `+db.Values(1, len(ids)),
		args...)
}

// list reads a page of the releases, the newest commit first, and counts all.
func list(tx *db.Tx, repoID repo.ID, drafts bool, page web.Page) (found []*Release, total int64, err error) {
	where := ` WHERE r.repo_id = $1 AND r.deleted_at IS NULL`
	if !drafts {
		where += ` AND r.draft = FALSE`
	}
	if err := tx.QueryRow(`SELECT COUNT(*) FROM releases r`+where, repoID).Scan(&total); err != nil {
		return nil, 0, err
	}
	found, err = query(tx, where+` ORDER BY r.created_at DESC, r.id DESC LIMIT $2 OFFSET $3`,
		repoID, page.Size, page.Offset())
	return found, total, err
}

// insert adds a release and sets its id. Errors: 404 when the repository is gone, 422 when another
// published release has the tag.
func insert(tx *db.Tx, r *Release) error {
	err := tx.QueryRow(`INSERT INTO releases (repo_id, author_id, publisher_id, tag, target, name, body,
			draft, prerelease, choice, created_at, published_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING RETURNING id`,
		r.RepoID, r.AuthorID, r.PublisherID, r.Tag, r.Target, r.Name, r.Body, r.Draft, r.Prerelease,
		int64(r.Choice),
		r.CreatedAt, r.PublishedAt, r.UpdatedAt).Scan(&r.ID)
	switch {
	case errors.Is(err, db.ErrNoRows):
		return taken()
	case errors.Is(err, db.ErrForeignKey):
		return errs.Absent()
	}
	return err
}

// taken is the 422 for a tag that another published release has.
func taken() error { return invalid("tag_name", errs.AlreadyExists, "") }

// update writes a release. Error: 422 when another published release has the tag.
func update(tx *db.Tx, r *Release) error {
	if !r.Draft {
		other, err := byTag(tx, r.RepoID, r.Tag)
		switch {
		case err == nil && other.ID != r.ID:
			return taken()
		case err != nil && !errs.Is(err, errs.NotFound):
			return err
		}
	}
	return tx.Run(`UPDATE releases SET publisher_id = $2, tag = $3, target = $4, name = $5, body = $6,
		draft = $7,
			prerelease = $8, choice = $9, created_at = $10, published_at = $11, updated_at = $12
			WHERE id = $1`,
		r.ID, r.PublisherID, r.Tag, r.Target, r.Name, r.Body, r.Draft, r.Prerelease, int64(r.Choice),
		r.CreatedAt, r.PublishedAt, r.UpdatedAt)
}

// remove removes a release and the rows of its assets.
func remove(tx *db.Tx, id int64) error {
	return tx.Run(`DELETE FROM releases WHERE id = $1`, id)
}

// hide hides a release that is deleted.
func hide(tx *db.Tx, id int64) error {
	return tx.Run(`UPDATE releases SET draft = TRUE, latest = FALSE, deleted_at = $2 WHERE id = $1`, id, tx.Now)
}

// show shows a deleted release again, as a draft.
func show(tx *db.Tx, id int64) error {
	return tx.Run(`UPDATE releases SET deleted_at = NULL, updated_at = $2 WHERE id = $1`, id, tx.Now)
}

// deletedOf lists the deleted releases of a repository, the last deleted first.
func deletedOf(tx *db.Tx, repoID repo.ID) ([]*Release, error) {
	return query(tx, ` WHERE r.repo_id = $1 AND r.deleted_at IS NOT NULL ORDER BY r.deleted_at DESC, r.id DESC`, repoID)
}

// deletedUntil finds the release that was deleted first of those deleted until a time. Error: 404 if there is none.
func deletedUntil(tx *db.Tx, at db.Time) (*Release, error) {
	return scan(tx.QueryRow(`SELECT `+columns+` FROM releases r WHERE r.deleted_at <= $1
		ORDER BY r.deleted_at, r.id LIMIT 1`, at))
}

// setLatest marks a release as the latest of its repository; 0 marks none.
func setLatest(tx *db.Tx, repoID repo.ID, id int64) error {
	err := tx.Run(`UPDATE releases SET latest = FALSE WHERE repo_id = $1 AND latest = TRUE AND id <> $2`,
		repoID, id)
	if err != nil || id == 0 {
		return err
	}
	return tx.Run(`UPDATE releases SET latest = TRUE WHERE id = $1`, id)
}

// candidate is a release that may be elected to be the latest.
type candidate struct {
	id        int64
	tag       string
	createdAt db.Time
}

// candidates lists the releases that may be elected, the newest commit first.
func candidates(tx *db.Tx, repoID repo.ID, most int) ([]candidate, error) {
	return db.QueryList(tx, scanCandidate, `SELECT id, tag, created_at FROM releases WHERE repo_id = $1
		AND draft = FALSE
		AND prerelease = FALSE AND choice <> $2 ORDER BY created_at DESC, id DESC LIMIT $3`,
		repoID, int64(KeepLatest), most)
}

func scanCandidate(row db.Scanner) (c candidate, err error) {
	err = row.Scan(&c.id, &c.tag, &c.createdAt)
	return c, err
}

// unpublish turns the releases of some tags into drafts, and lists them in the order of their ids.
func unpublish(tx *db.Tx, repoID repo.ID, tags []string) (drafts []candidate, err error) {
	for part := range slices.Chunk(tags, db.MaxValues) {
		args := []any{repoID, tx.Now}
		for _, tag := range part {
			args = append(args, tag)
		}
		list, err := db.QueryList(tx, scanCandidate,
			`UPDATE releases SET draft = TRUE, latest = FALSE, updated_at = $2 WHERE repo_id = $1
			AND draft = FALSE AND tag IN `+db.ValuesFrom(3, 1, len(part))+` RETURNING id, tag, created_at`, args...)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, list...)
	}
	slices.SortFunc(drafts, func(a, b candidate) int { return cmp.Compare(a.id, b.id) })
	return drafts, nil
}

// retarget gives drafts with the target from another one.
func retarget(tx *db.Tx, repoID repo.ID, from, to string) error {
	return tx.Run(`UPDATE releases SET target = $3 WHERE repo_id = $1 AND draft = TRUE AND target = $2`, repoID, from, to)
}
