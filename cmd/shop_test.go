package cmd_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"runner/cmd"
)

// TestShopByHandEndsWithASignal starts the shop as a person does: its input does
// not end, a signal ends it.
func TestShopByHandEndsWithASignal(t *testing.T) {
	env := cmd.OS()
	signals := make(chan os.Signal, 1)
	input, keepOpen := io.Pipe()
	defer keepOpen.Close()
	var out, problems bytes.Buffer
	env.Args, env.Stdin, env.Stdout, env.Stderr = []string{"demo-shop", "--addr", "127.0.0.1:0"}, input, &out, &problems
	env.Notify = func() (<-chan os.Signal, func()) { return signals, func() {} }
	signals <- syscall.SIGINT
	if code := cmd.Main(env); code != 0 || !strings.HasPrefix(out.String(), "http://127.0.0.1:") {
		t.Errorf("code %d, said %q %q", code, out.String(), problems.String())
	}
}
