package reaction

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Many answers what GraphQL asks of the reactions to many subjects of a repository at one time. The subjects
// were found for the caller before.
type Many struct{ db *db.DB }

// NewMany makes the handlers.
func NewMany(d *db.DB) *Many { return &Many{d} }

// maxMany is of how many subjects one request asks for the reactions.
const maxMany = 100

// List answers the reactions to the subjects of a kind of the parameter ids: an object with a list for each,
// as API.List has it, and one reaction more where there are more than the page holds. Error: 422 for a
// content that there is not.
func (m *Many) List(kind Kind) func(http.ResponseWriter, *http.Request, *repo.Access) error {
	return func(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
		ids := db.Unique(web.ParseNumbers(web.QueryOf(r).Get("ids"), maxMany))
		content, err := queryContent(r)
		if err != nil {
			return err
		}
		at := web.ReadPage(r)
		var found []subjectRow
		var users map[account.ID]*account.Account
		err = m.db.Read(r.Context(), func(tx *db.Tx) (err error) {
			if found, err = firstOf(tx, a.ID, kind, ids, content, at.Size+1, at.Offset()); err != nil {
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
			return err
		}
		info, out := web.From(r.Context()), map[int64][]payload{}
		for _, f := range found {
			out[f.subject] = append(out[f.subject], newPayload(f.row, users[f.userID], info))
		}
		return web.JSON(w, r, http.StatusOK, out)
	}
}

// Own answers what the caller said of the subjects of a kind of the parameter ids: an object with a list of
// contents for each of which the caller said something.
func (m *Many) Own(kind Kind) func(http.ResponseWriter, *http.Request, *repo.Access) error {
	return func(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
		out := map[int64][]string{}
		if a.Caller == nil {
			return web.JSON(w, r, http.StatusOK, out)
		}
		ids := web.ParseNumbers(web.QueryOf(r).Get("ids"), maxMany)
		var own map[int64][]Content
		err := m.db.Read(r.Context(), func(tx *db.Tx) (err error) {
			own, err = Own(tx, a.ID, a.Caller.ID, kind, ids)
			return err
		})
		if err != nil {
			return err
		}
		for id, said := range own {
			for _, c := range said {
				out[id] = append(out[id], c.String())
			}
		}
		return web.JSON(w, r, http.StatusOK, out)
	}
}

// subjectRow is a row with its subject.
type subjectRow struct {
	row
	subject int64
}

// firstOf reads a part of the reactions to each of some subjects, the oldest first. Content 0 is all.
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
