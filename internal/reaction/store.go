package reaction

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// row is a row of table reactions, without its subject.
type row struct {
	id        int64
	userID    account.ID
	content   Content
	createdAt db.Time
}

// Rollups counts the reactions to several subjects in one query that reads only an index. Ids may repeat.
// Subjects without reactions are missing from the map, so their Rollup is zero.
func Rollups[ID ~int64](tx *db.Tx, kind Kind, ids []ID) (map[ID]Rollup, error) {
	found := make(map[ID]Rollup, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	text, args := rollupsQuery(kind, ids)
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var id ID
		var content, count int64
		if err := row.Scan(&id, &content, &count); err != nil {
			return err
		}
		if content < 1 || content > int64(len(names)) {
			return fmt.Errorf("reaction: content %d in the table", content)
		}
		u := found[id]
		u[content-1] = count
		found[id] = u
		return nil
	}, text, args...)
	return found, err
}

// firstTimes reads when the first reaction of each content to each of the subjects was made, in one query.
func firstTimes(tx *db.Tx, kind Kind, list []repo.Of[int64]) (map[repo.Of[int64]]map[Content]db.Time, error) {
	found := map[repo.Of[int64]]map[Content]db.Time{}
	if len(list) == 0 {
		return found, nil
	}
	in := repo.In(list)
	with, args := repo.Pairs(list, "BIGINT", int64(kind))
	return found, db.QueryEach(tx, func(row db.Scanner) error {
		var id repo.ID
		var subject, content int64
		var at db.Time
		err := row.Scan(&id, &subject, &content, &at)
		of := repo.Of[int64]{In: in[id], Key: subject}
		if found[of] == nil {
			found[of] = map[Content]db.Time{}
		}
		found[of][Content(content)] = at
		return err
	}, with+`SELECT r.repo_id, r.subject_id, r.content, MIN(r.created_at) FROM v
		JOIN reactions r ON r.repo_id = v.repo AND r.subject_kind = $1 AND r.subject_id = v.key
		GROUP BY r.repo_id, r.subject_id, r.content`, args...)
}

// Own returns the caller's reactions to several subjects of a kind, read in one query.
func Own(tx *db.Tx, kind Kind, list []repo.Of[int64]) (map[repo.Of[int64]][]Content, error) {
	found := map[repo.Of[int64]][]Content{}
	if len(list) == 0 {
		return found, nil
	}
	in := repo.In(list)
	with, args := repo.Pairs(list, "BIGINT", int64(kind), list[0].In.Caller.ID)
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var id repo.ID
		var subject, content int64
		err := row.Scan(&id, &subject, &content)
		of := repo.Of[int64]{In: in[id], Key: subject}
		found[of] = append(found[of], Content(content))
		return err
	}, with+`SELECT r.repo_id, r.subject_id, r.content FROM v
		JOIN reactions r ON r.repo_id = v.repo AND r.subject_kind = $1 AND r.subject_id = v.key
		WHERE r.user_id = $2 ORDER BY r.repo_id, r.subject_id, r.content`, args...)
	return found, err
}

func rollupsQuery[ID ~int64](kind Kind, ids []ID) (text string, args []any) {
	which, args := among(kind, ids)
	return `SELECT subject_id, content, count(*) FROM reactions WHERE ` + which +
		` GROUP BY subject_id, content`, args
}

// dropAtOnce is the number of subjects in one DELETE, because engines limit the number of parameters.
const dropAtOnce = 512

// Drop deletes the reactions to subjects that are deleted in the same transaction.
func Drop(tx *db.Tx, kind Kind, ids ...int64) error {
	for some := range slices.Chunk(ids, dropAtOnce) {
		which, args := among(kind, some)
		if _, err := tx.Exec(`DELETE FROM reactions WHERE `+which, args...); err != nil {
			return err
		}
	}
	return nil
}

// among returns the condition for several subjects. The last id is repeated up to a power of two, so that
// lists of all lengths share a few prepared statements.
func among[ID ~int64](kind Kind, ids []ID) (condition string, args []any) {
	args = make([]any, 0, 2*len(ids)+1)
	for _, id := range ids {
		args = append(args, id)
	}
	for len(args)&(len(args)-1) != 0 {
		args = append(args, args[len(args)-1])
	}
	n := len(args)
	return `subject_kind = $` + strconv.Itoa(n+1) + ` AND subject_id IN ` + db.Values(1, n),
		append(args, int64(kind))
}

// insert inserts a reaction of the user. If it exists, added is false and r is the existing row. Errors:
// 404 if the repository was deleted.
func insert(
	tx *db.Tx, repoID repo.ID, s Subject, userID account.ID, c Content,
) (r row, added bool, err error) {
	r = row{userID: userID, content: c, createdAt: tx.Now}
	err = tx.QueryRow(`INSERT INTO reactions (repo_id, subject_kind, subject_id, user_id, content, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING id`,
		repoID, int64(s.Kind), s.ID, userID, int64(c), tx.Now).Scan(&r.id)
	switch {
	case errors.Is(err, db.ErrForeignKey):
		return r, false, errs.Absent()
	case !errors.Is(err, db.ErrNoRows):
		return r, err == nil, err
	}
	r, err = ownRow(tx, repoID, s, userID, c)
	return r, false, err
}

// ownRow reads the reaction of a user. Error: 404.
func ownRow(tx *db.Tx, repoID repo.ID, s Subject, userID account.ID, c Content) (row, error) {
	r := row{userID: userID, content: c}
	err := tx.QueryRow(`SELECT id, created_at FROM reactions
		WHERE repo_id = $1 AND subject_kind = $2 AND subject_id = $3 AND user_id = $4 AND content = $5`,
		repoID, int64(s.Kind), s.ID, userID, int64(c)).Scan(&r.id, &r.createdAt)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return r, err
}

// madeBy returns the author of a reaction to the subject. Errors: 404.
func madeBy(tx *db.Tx, repoID repo.ID, s Subject, id int64) (userID account.ID, err error) {
	err = tx.QueryRow(`SELECT user_id FROM reactions
		WHERE id = $1 AND repo_id = $2 AND subject_kind = $3 AND subject_id = $4`,
		id, repoID, int64(s.Kind), s.ID).Scan(&userID)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return userID, err
}

// remove deletes a reaction. Errors: 404 if it was deleted concurrently.
func remove(tx *db.Tx, id int64) error {
	n, err := tx.Exec(`DELETE FROM reactions WHERE id = $1`, id)
	if err == nil && n == 0 {
		return errs.Absent()
	}
	return err
}

// list reads a page of the reactions to a subject, oldest first, and their number. Content 0 selects all.
func list(tx *db.Tx, repoID repo.ID, s Subject, c Content, page web.Page) ([]row, int64, error) {
	args := []any{repoID, int64(s.Kind), s.ID}
	found, err := query(tx, listQuery(c)+pageOrder, append(args, page.Size, page.Offset())...)
	if err != nil {
		return nil, 0, err
	}
	if n := int64(len(found)); n < page.Size && (n > 0 || page.Number == 1) {
		return found, page.Offset() + n, nil
	}
	var total int64
	err = tx.QueryRow(`SELECT count(*) FROM (`+listQuery(c)+`) all_pages`, args...).Scan(&total)
	return found, total, err
}

// pageOrder selects a page of listQuery.
const pageOrder = ` ORDER BY id LIMIT $4 OFFSET $5`

func listQuery(c Content) string {
	text := `SELECT id, user_id, content, created_at FROM reactions
		WHERE repo_id = $1 AND subject_kind = $2 AND subject_id = $3`
	if c != 0 {
		text += ` AND content = ` + strconv.Itoa(int(c))
	}
	return text
}

func query(tx *db.Tx, text string, args ...any) ([]row, error) {
	return db.QueryList(tx, func(scanned db.Scanner) (r row, err error) {
		err = scanned.Scan(&r.id, &r.userID, &r.content, &r.createdAt)
		return r, err
	}, text, args...)
}

// GiveAway gives the reactions of one account to another, as far as that has not reacted in the same way.
func GiveAway(tx *db.Tx, from, to account.ID) error {
	err := tx.Run(`UPDATE reactions SET user_id = $2 WHERE user_id = $1 AND NOT EXISTS (SELECT 1 FROM reactions o
		WHERE o.subject_kind = reactions.subject_kind AND o.subject_id = reactions.subject_id
		AND o.content = reactions.content AND o.user_id = $2)`, from, to)
	if err != nil {
		return err
	}
	return tx.Run(`DELETE FROM reactions WHERE user_id = $1`, from)
}
