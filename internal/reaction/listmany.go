package reaction

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Many loads the reactions to several subjects of a repository. The caller must have access to the
// subjects.
type Many struct{ db *db.DB }

// NewMany returns a Many.
func NewMany(d *db.DB) *Many { return &Many{d} }

// List loads a page of the reactions to each subject of a kind, as API.List does. Content 0 selects all.
func (m *Many) List(
	ctx context.Context, kind Kind, list []repo.Of[int64], content Content, page web.Page,
) (map[repo.Of[int64]]*web.List[Payload], error) {
	var found []subjectRow
	var users map[account.ID]*account.Account
	err := m.db.Read(ctx, func(tx *db.Tx) (err error) {
		found, err = firstOf(tx, kind, list, content, page)
		if err != nil {
			return err
		}
		by := make([]account.ID, len(found))
		for n, f := range found {
			by[n] = f.userID
		}
		users, err = account.ByIDs(tx, db.Unique(by))
		return err
	})
	if err != nil {
		return nil, err
	}
	info, in, out := web.From(ctx), repo.In(list), map[repo.Of[int64]]*web.List[Payload]{}
	for _, f := range found {
		of := repo.Of[int64]{In: in[f.repo], Key: f.subject}
		if out[of] == nil {
			out[of] = &web.List[Payload]{}
		}
		out[of].Add(page, newPayload(f.row, users[f.userID], info))
	}
	return out, nil
}

// Own returns the caller's reactions to each subject of a kind.
func (m *Many) Own(
	ctx context.Context, kind Kind, list []repo.Of[int64],
) (own map[repo.Of[int64]][]Content, err error) {
	if len(list) == 0 || list[0].In.Caller == nil {
		return nil, nil
	}
	return db.Get(ctx, m.db, func(tx *db.Tx) (map[repo.Of[int64]][]Content, error) {
		return Own(tx, kind, list)
	})
}

// First returns when the first reaction of each content to each subject of a kind was made.
func (m *Many) First(
	ctx context.Context, kind Kind, list []repo.Of[int64],
) (first map[repo.Of[int64]]map[Content]db.Time, err error) {
	return db.Get(ctx, m.db, func(tx *db.Tx) (map[repo.Of[int64]]map[Content]db.Time, error) {
		return firstTimes(tx, kind, list)
	})
}

// subjectRow is a row with its subject.
type subjectRow struct {
	row
	repo    repo.ID
	subject int64
}

// firstOf reads a page of the reactions to each subject, oldest first. Content 0 selects all.
func firstOf(
	tx *db.Tx, kind Kind, subjects []repo.Of[int64], c Content, p web.Page,
) (list []subjectRow, err error) {
	if len(subjects) == 0 {
		return nil, nil
	}
	which := ``
	if c != 0 {
		which = ` AND content = ` + strconv.Itoa(int(c))
	}
	parts, args := make([]string, len(subjects)), []any{int64(kind), p.Size + 1, p.Offset()}
	for n, of := range subjects {
		args = append(args, of.In.ID, of.Key)
		parts[n] = fmt.Sprintf(`SELECT id FROM (SELECT id FROM reactions WHERE repo_id = $%d AND subject_kind = $1
			AND subject_id = $%d%s ORDER BY id LIMIT $2 OFFSET $3) p%d`, 2*n+4, 2*n+5, which, n)
	}
	return db.QueryList(tx, func(row db.Scanner) (r subjectRow, err error) {
		err = row.Scan(&r.id, &r.userID, &r.content, &r.createdAt, &r.repo, &r.subject)
		return r, err
	}, `SELECT id, user_id, content, created_at, repo_id, subject_id FROM reactions
		WHERE id IN (`+strings.Join(parts, ` UNION ALL `)+`) ORDER BY id`, args...)
}
