package reaction

import (
	"context"
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
	ctx context.Context, a *repo.Access, kind Kind, ids []int64, content Content, page web.Page,
) (map[int64]*web.List[Payload], error) {
	var found []subjectRow
	var users map[account.ID]*account.Account
	err := m.db.Read(ctx, func(tx *db.Tx) (err error) {
		found, err = firstOf(tx, a.ID, kind, db.Unique(ids), content, page.Size+1, page.Offset())
		if err != nil {
			return err
		}
		by := make([]account.ID, len(found))
		for n, f := range found {
			by[n] = f.userID
		}
		users, err = account.ByIDs(tx, by)
		return err
	})
	if err != nil {
		return nil, err
	}
	info, out := web.From(ctx), map[int64]*web.List[Payload]{}
	for _, f := range found {
		if out[f.subject] == nil {
			out[f.subject] = &web.List[Payload]{}
		}
		out[f.subject].Add(page, newPayload(f.row, users[f.userID], info))
	}
	return out, nil
}

// Own returns the caller's reactions to each subject of a kind.
func (m *Many) Own(
	ctx context.Context, a *repo.Access, kind Kind, ids []int64,
) (own map[int64][]Content, err error) {
	if a.Caller == nil {
		return nil, nil
	}
	err = m.db.Read(ctx, func(tx *db.Tx) (err error) {
		own, err = Own(tx, a.ID, a.Caller.ID, kind, ids)
		return err
	})
	return own, err
}

// subjectRow is a row with its subject.
type subjectRow struct {
	row
	subject int64
}

// firstOf reads a page of the reactions to each subject, oldest first. Content 0 selects all.
func firstOf(
	tx *db.Tx, repoID repo.ID, kind Kind, ids []int64, c Content, rows, offset int64,
) (list []subjectRow, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	which := ``
	if c != 0 {
		which = ` AND content = ` + strconv.Itoa(int(c))
	}
	parts, args := make([]string, len(ids)), []any{repoID, int64(kind), rows, offset}
	for n, id := range ids {
		args = append(args, id)
		at := strconv.Itoa(n + 5)
		parts[n] = `SELECT id FROM (SELECT id FROM reactions WHERE repo_id = $1 AND subject_kind = $2 AND subject_id = $` + at +
			which + ` ORDER BY id LIMIT $3 OFFSET $4) p` + at
	}
	return db.QueryList(tx, func(row db.Scanner) (r subjectRow, err error) {
		err = row.Scan(&r.id, &r.userID, &r.content, &r.createdAt, &r.subject)
		return r, err
	}, `SELECT id, user_id, content, created_at, subject_id FROM reactions
		WHERE id IN (`+strings.Join(parts, ` UNION ALL `)+`) ORDER BY id`, args...)
}
