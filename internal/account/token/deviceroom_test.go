package token

import (
	"encoding/binary"
	"fmt"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// Many networks with as many codes as each may have do not end the device flow for others: somebody still
// signs a program in, and the code is not displaced by what they ask for then.
func TestManyNetworksLeaveTheDeviceFlow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBundle(t, engine)
		err := b.db.Write(t.Context(), func(tx *db.Tx) error {
			for n := range maxDevices {
				code := binary.BigEndian.AppendUint64(nil, uint64(n))
				err := tx.Run(`INSERT INTO device_requests (device, user_code, client, scopes, network, pause,
					created_at, expires_at) VALUES ($1, $1, '', '', $2, 5, $3, $4)`,
					code, fmt.Sprint("net", n/maxOfNetwork), tx.Now, tx.Now+900e6)
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(network string) error {
			_, err := b.s.AskDevice(t.Context(), DeviceAsk{Client: ghClient, Network: network})
			return err
		}
		if err := ask("home"); err != nil {
			t.Fatalf("somebody else: %v", err)
		}
		for n := range 30 { // the others go on
			_ = ask("net7")
			if err := ask(fmt.Sprint("more", n)); err != nil {
				t.Fatal(err)
			}
		}
		var all, mine int64
		err = b.db.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT COUNT(*), COUNT(CASE WHEN network = 'home' THEN 1 END)
				FROM device_requests`).Scan(&all, &mine)
		})
		if err != nil || all != maxDevices || mine != 1 {
			t.Errorf("%d requests wait, %d of somebody else: %v", all, mine, err)
		}
	})
}
