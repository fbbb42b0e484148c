package mirror

import (
	"arbor/internal/db"
)

// insertSSH stores the key pair of a mirror, in place of a former one.
func insertSSH(tx *db.Tx, m *Mirror) error {
	if err := forgetSSH(tx, m.ID); err != nil || m.SSH == nil {
		return err
	}
	return tx.Run(`INSERT INTO mirror_ssh (mirror_id, repo_id, public_key, secret, host_key, host_kind)
		VALUES ($1, $2, $3, $4, $5, $6)`, m.ID, m.RepoID, m.SSH.PublicKey, m.SSH.secret, m.SSH.HostKey, m.SSH.hostKind)
}

func forgetSSH(tx *db.Tx, id int64) error {
	return tx.Run(`DELETE FROM mirror_ssh WHERE mirror_id = $1`, id)
}

// noteHostKey stores a key that the other server has: as known if none is or if it is that one, else as offered.
func noteHostKey(tx *db.Tx, m *Mirror, print, kind string) error {
	err := tx.Run(`UPDATE mirror_ssh SET host_key = $3, host_kind = $4, offered_key = ''
		WHERE mirror_id = $1 AND public_key = $2 AND host_key IN ('', $3)`, m.ID, m.SSH.PublicKey, print, kind)
	if err == nil {
		err = tx.Run(`UPDATE mirror_ssh SET offered_key = $3 WHERE mirror_id = $1 AND public_key = $2 AND host_key <> $3`,
			m.ID, m.SSH.PublicKey, print)
	}
	return err
}

// acceptHostKey stores the key by which an administrator knows the other server, and has the mirror run at once.
func acceptHostKey(tx *db.Tx, m *Mirror, print string) error {
	err := tx.Run(`UPDATE mirror_ssh SET host_key = $2, host_kind = CASE WHEN host_key = $2 THEN host_kind ELSE '' END,
		offered_key = '' WHERE mirror_id = $1`, m.ID, print)
	if err == nil {
		err = tx.Run(`UPDATE mirrors SET version = version + 1, wanted = wanted + 1, active = TRUE, due_at = 0,
			failures = 0, failing_since = NULL, problem = '' WHERE id = $1`, m.ID)
	}
	return err
}
