package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// The plant store rejects an id that is not a number, of any bytes, with a 400 in its own form (decision
// 67).
func TestPlantIDsOfAnyBytes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		ids := []string{"x", "1.0", "1e3", "+1", "0x1", "1_0", "9223372036854775808", "-9223372036854775809",
			"%31x", "%00", "1%00", "%FF", "1%FF", "%C0%AF",
			"%ED%A0%80", "%2F", "1%2F2", "..%2Fplants", "%20", "%20" + "1", "%D9%A1", "%EF%BC%91", "-", "--1",
			strings.Repeat("1", 400), "%25", "%3F", "%E2%80%8B1"}
		for _, id := range ids {
			conn, err := net.Dial("tcp", s.Address)
			testkit.NoError(t, err)
			fmt.Fprintf(conn, "DELETE /plants/%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+
				"Authorization: Bearer %s\r\n\r\n", id, s.Token(t, "alice"))
			a, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("%q: %v", id, err)
			}
			if a.StatusCode != http.StatusBadRequest || a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%q: %d %s, want 400 in JSON", id, a.StatusCode, a.Header.Get("Content-Type"))
			}
			a.Body.Close()
			conn.Close()
		}
		s.Run(t, []apitest.Case{
			{Name: "credentials come first", Do: "DELETE /plants/%FF", Status: 401},
			{Name: "of a number, however it is written", Do: "POST /plants", As: "alice",
				Send:    `{"id": 17, "name": "n"}`,
				Headers: map[string]string{"Content-Type": "application/json"}, Status: 200},
			{Do: "DELETE /plants/%317", As: "alice", Status: 204},
			{Name: "elsewhere it is nothing", Do: "GET /repos/alice/%FF", As: "alice", Status: 404},
		})
	})
}
