package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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
	var o shopOptions
	c := &cobra.Command{
		Use:   "demo-shop",
		Short: "Serve the demo shop that the example plans run against",
		Long: `Serve the demo shop and print its address. Started by hand it ends with Ctrl-C;
started by a program, without --addr or --port, when its input ends.

` + demo.Guide() + `
Exit codes:
  0    it was told to end
  2    the address cannot be used
  3    it broke`,
		Example: "  runner demo-shop --port 8080\n  runner exec plan.yaml --var base=http://127.0.0.1:8080",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			flags := c.Flags().Changed("addr") || c.Flags().Changed("port")
			o.untilSignal, o.untilInputEnds = env.Interactive || flags, env.Interactive || !flags
			if c.Flags().Changed("addr") && c.Flags().Changed("port") {
				return usage(errors.New("--addr holds a port already; leave --port out"))
			}
			return runShop(c.Context(), env, o)
		},
	}
	c.Flags().StringVar(&o.addr, "addr", "", "listen on this `host:port` (default 127.0.0.1 and a free port)")
	c.Flags().Uint16Var(&o.port, "port", 0, "listen on this `port` of 127.0.0.1; 0 is a free one")
	return c
}

// shopOptions are the flags of demo-shop.
type shopOptions struct {
	addr string
	port uint16

	untilSignal, untilInputEnds bool // what ends it
}

func (o shopOptions) listen() (net.Listener, error) {
	switch {
	case o.addr != "":
		return net.Listen("tcp", o.addr)
	case o.port != 0:
		return net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", o.port))
	}
	return demo.Listen()
}

func runShop(ctx context.Context, env Env, o shopOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals, stop := env.Notify() // Ctrl-C reaches the whole process group; a parent ends us by closing our input
	defer stop()
	listener, err := o.listen()
	if err != nil {
		return usage(fmt.Errorf("start the demo shop: %w", err))
	}
	printf(env.Stdout, "http://%s\n", listener.Addr())
	if o.untilSignal {
		go func() {
			select {
			case <-signals:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	if o.untilInputEnds {
		go func() {
			_, _ = io.Copy(io.Discard, env.Stdin) // only its end matters
			cancel()
		}()
	}
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
