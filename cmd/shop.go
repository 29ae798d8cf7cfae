package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"runner/plans/demo"
)

// demoLatency is how long a page of the shop takes, so that its charts look like
// those of a real shop.
const demoLatency = 15 * time.Millisecond

// newShop is the demo shop as a process of its own, so that it does not share
// the load generator's memory and scheduler. It ends when its input ends.
func newShop(env Env) *cobra.Command {
	return &cobra.Command{
		Use: "demo-shop", Short: "Serve the demo shop on a free loopback port until the input ends", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runShop(c.Context(), env) },
	}
}

func runShop(ctx context.Context, env Env) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, stop := env.Notify() // Ctrl-C reaches the whole process group; the parent ends us by closing our input
	defer stop()
	listener, err := demo.Listen()
	if err != nil {
		return invalid(fmt.Errorf("start the demo shop: %w", err))
	}
	printf(env.Stdout, "http://%s\n", listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, env.Stdin) // only its end matters
		cancel()
	}()
	if err := demo.Serve(ctx, listener, demo.Options{Latency: demoLatency}); err != nil && !errors.Is(err, context.Canceled) {
		return invalid(err)
	}
	return nil
}

// shop is a running demo shop.
type shop struct {
	base  string
	input io.Closer
	cmd   *exec.Cmd
}

// startShop starts the demo shop as a child process and returns when it listens.
func startShop(ctx context.Context, env Env) (*shop, error) {
	cmd, err := env.Self(ctx, "demo-shop")
	if err != nil {
		return nil, fmt.Errorf("start the demo shop: %w", err)
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the demo shop: %w", err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the demo shop: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the demo shop: %w", err)
	}
	s := &shop{input: input, cmd: cmd}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("start the demo shop: it ended before it was ready: %w", err)
	}
	s.base = strings.TrimSpace(line)
	return s, nil
}

// stop ends the shop and waits for it.
func (s *shop) stop() {
	_ = s.input.Close()
	_ = s.cmd.Wait() // its fate does not matter any more
}
