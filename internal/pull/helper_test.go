package pull_test

import encoding "encoding/base64"

func base64(s string) string { return encoding.StdEncoding.EncodeToString([]byte(s)) }
