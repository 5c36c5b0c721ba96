"""legosketch train, tested as its users meet it. Runs are a few steps long; what they learn is tested elsewhere.

SPDX-License-Identifier: MIT
"""
import json, os, random, resource, signal, subprocess, sys, time, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import PROGRAM, ENVIRONMENT, Case, limit

STEPS = 6
QUICK = ["train", "--tasks", 8 * STEPS, "--quiet", "--every", 1]


class Train(Case):
    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, env=ENVIRONMENT,
                                stderr=subprocess.PIPE, text=True)

    def train(self, name, *arguments, **more):
        self.run_program(*QUICK, "-o", name, *arguments, **more)
        return self.read(name)

    def wait_for(self, name):
        for _ in range(6000):
            if name in self.files():
                return
            time.sleep(0.01)
        self.fail(f"{name} does not come")

    def test_model(self):
        model = self.train("a.lego", "--name", "tiny.model")
        info = json.loads(self.run_program("info", "--json", "a.lego"))
        self.assertEqual((info["name"], info["rows"], info["columns"], info["quantum"]), ("tiny.model", 5, 5120, 1024))
        self.assertEqual(self.files(), ["a.lego"])  # no checkpoint is left
        self.assertEqual(self.train("b.lego", "--name", "tiny.model", "--threads", 3), model)
        self.assertNotEqual(self.train("b.lego", "--name", "tiny.model", "--seed", 1), model)
        self.assertEqual(self.run_program(*QUICK, "-o", "-", "--name", "tiny.model"), model)
        self.run_program("build", "-o", "a.sketch", "--model", "a.lego", data="x\nx\n")
        self.assertEqual(self.query("a.sketch", "x", options=["--model", "a.lego"]), {b"x": 2})

    def test_log(self):
        self.train("a.lego", "--log", "log", "--no-scan")
        first, *lines = [json.loads(line) for line in self.read("log").splitlines()]
        self.assertEqual([first[key] for key in ("seed", "tasks", "no_scan", "fixed_v")], [0, 8 * STEPS, True, False])
        self.assertEqual([first[key] for key in ("n_min", "n_max", "alpha_max", "rate", "rate_v", "scouts")],
                         [8000, 50000, 1, 0.001, 5e-05, 0])
        self.assertEqual((first["net"], first["scout_alpha_max"]), ("paper", 0))
        self.assertEqual([line["step"] for line in lines], list(range(1, STEPS + 1)))
        for line in lines:
            self.assertGreater(line["loss"], 0)
            self.assertGreater(line["rule_aae"], 0)
            self.assertEqual(line["loss_skew"], 0)

    def test_numbers_of_the_recipe(self):
        models = {self.train("a.lego")}
        for number, (options, fields) in enumerate([
            (["--n-min", 40000], {"n_min": 40000}), (["--alpha-max", 0.75], {"alpha_max": 0.75}),
            (["--rate", 0.002], {"rate": 0.002, "rate_v": 5e-05, "scouts": 1}), (["--rate-v", 0], {"rate": 0.001, "rate_v": 0}),
            (["--scouts", 2], {"scouts": 2, "scout_n_min": 1000, "scout_alpha_max": 1.4, "alpha_max": 1}),
            (["--scouts", 7, "--scout-alpha", 1.2], {"scouts": 7, "scout_n_min": 1000, "scout_alpha_max": 1.2}),
            (["--scout-alpha", 1.2], {"scouts": 1, "scout_n_min": 1000, "scout_alpha_max": 1.2}),
            (["--scouts", 0], {"scouts": 0, "n_min": 8000}),
            (["--from-rule"], {"from_rule": True, "n_min": 8000}),
            (["--preset", "published"], {"scouts": 0, "n_min": 1000, "scale_min": 1, "rate_v": 0.001, "fall": 2, "last_step": True}),
            (["--preset", "authors"], {"scouts": 0, "n_min": 1000, "scale_min": 0.5, "rate_v": 0.0001, "fall": 1}),
            (["--preset", "quick"], {"scouts": 0, "n_min": 10000, "rate_v": 0.0003, "from_rule": True}),
        ]):
            models.add(self.train("a.lego", "--log", "log", *options))
            first = json.loads(self.read("log").splitlines()[0])
            self.assertEqual({key: first[key] for key in fields}, fields)
            self.assertEqual(len(models), number + 2)
        self.assertIn(self.train("a.lego", "--scouts", 1), models)

    def test_score(self):
        self.train("a.lego", "--preset", "quick", "--rate", 0, "--rate-v", 0, "--checkpoint", "c")
        head, *lines = self.run_program("train", "--score", "c").decode().splitlines()
        self.assertEqual(len(lines), 6)
        loads = [list(map(float, line.split())) for line in lines]
        for n, rule_aae, aae, rule_are, are in loads:  # it has not learnt, so it is still the rule
            self.assertAlmostEqual(aae / rule_aae, 1, delta=1e-3)
            self.assertAlmostEqual(are / rule_are, 1, delta=1e-3)
        self.assertEqual(loads, sorted(loads))
        self.fails("train", "--score", "a.lego", says="a.lego is not a checkpoint")
        self.fails("train", "--score", "nothing", says="cannot read nothing")

    def log_without_times(self, name):
        lines = [json.loads(line) for line in self.read(name).splitlines()]
        return [{k: v for k, v in line.items() if k != "tasks_per_second"} for line in lines if "step" in line]

    def test_interrupted_anywhere(self):
        wanted = self.train("whole", "--log", "whole.log")
        draw = random.Random(1)
        for number, how in enumerate([signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGKILL]):
            with self.subTest(how=how):
                name = f"a{number}"
                arguments = [*QUICK, "-o", name, "--log", name + ".log", "--checkpoint", name + ".c"]
                process = self.start(*arguments)
                self.wait_for(name + ".c")
                time.sleep(draw.random() * 0.1)
                process.send_signal(how)
                message = process.communicate(timeout=120)[1]
                if process.returncode != 0:  # else it was too fast for the signal
                    self.assertNotIn(name, self.files())
                    if how != signal.SIGKILL:
                        self.assertEqual(process.returncode, 1, message)
                        self.assertRegex(message, r"stopped after step \d of 6; the same command with --resume goes on")
                    if how == signal.SIGKILL:  # half a line more than the checkpoint knows of
                        with open(self.folder / (name + ".log"), "ab") as log:
                            log.write(b'{"step":6,"lo')
                self.run_program(*arguments, "--resume")
                self.assertEqual(self.read(name), wanted)
                self.assertEqual(self.log_without_times(name + ".log"), self.log_without_times("whole.log"))
                self.assertIn(name + ".c", self.files())  # one that was asked for stays

    def test_checkpoints_are_not_lost(self):
        self.train("a.lego", "--checkpoint", "c")
        kept = self.read("c")
        self.fails(*QUICK, "-o", "b.lego", "--checkpoint", "c", says="c is there already: --resume goes on with it")
        for other, says in [
            (["--seed", 4], "c was made with --seed 0, not 4"),
            (["--fixed-v"], "c was made without --fixed-v"),
            (["--plain-loss"], "c was made without --plain-loss"),
            (["--tasks", 80], "c was made with --tasks 48, not 80"),
            (["--scouts", 2], "c was made with --scouts 1, not 2"),
            (["--rate", 0.1], "c was made with --rate 0.001, not 0.1"),
            (["--preset", "published"], "c was made with --n-min 8000, not 1000"),
            (["--preset", "ms-ours"], "c was made for the net paper, not ms"),
        ]:
            self.fails(*QUICK, "-o", "b.lego", "--checkpoint", "c", "--resume", *other, says=says)
        self.fails(*QUICK, "-o", "b.lego", "--resume", says="there is no checkpoint b.lego.checkpoint to go on from")
        self.assertEqual(self.read("c"), kept)
        self.run_program(*QUICK, "-o", "b.lego", "--checkpoint", "c", "--resume")  # it was done: the model again
        self.assertEqual(self.read("b.lego"), self.read("a.lego"))

        for name, data, says in [
            ("empty", b"", "is not a checkpoint"), ("text", b"hello world" * 99, "is not a checkpoint"),
            ("short", kept[:-1], "ends too early"), ("long", kept + b"x", "goes on too long"),
            ("earlier", kept[:8] + b"\1" + kept[9:], "another version"),
            ("later", kept[:8] + b"\7" + kept[9:], "another version"),
            ("damaged", kept[:9000] + b"\xff\xff" + kept[9002:], "checksum is wrong"),
        ]:
            self.write(name, data)
            self.fails(*QUICK, "-o", "x.lego", "--checkpoint", name, "--resume", says=f"{name} .*{says}")
            self.assertEqual(self.read(name), data)
        self.assertNotIn("x.lego", self.files())

    def test_full_disk(self):
        self.train("a.lego", "--checkpoint", "c")
        model, kept = self.read("a.lego"), self.read("c")
        full = limit(resource.RLIMIT_FSIZE, 1000)
        self.fails(*QUICK, "-o", "a.lego", "--checkpoint", "c", "--resume", preexec_fn=full,
                   says="cannot write a.lego: File too large")
        self.fails(*QUICK, "-o", "b.lego", says="(?s)cannot write b.lego.checkpoint: .*cannot write b.lego: ",
                   preexec_fn=full)
        self.fails(*QUICK, "-o", "b.lego", "--log", "/dev/full",
                   says="(?s)cannot write /dev/full: No space left.*; the run goes on without it.*is not whole")
        self.assertEqual(self.read("b.lego"), model)
        self.assertEqual((self.read("a.lego"), self.read("c")), (model, kept))
        self.fails(*QUICK, "-o", "nowhere/a.lego", says="cannot write nowhere/a.lego: No such file")
        self.fails(*QUICK, "-o", "x.lego", "--checkpoint", "nowhere/c", says="cannot write nowhere/c: No such file")
        self.fails(*QUICK, "-o", "x.lego", "--log", "nowhere/log", says="cannot write nowhere/log: No such file")

    def test_not_finite(self):
        """A checkpoint with a weight so large that its answers leave the floats: the run ends, the checkpoint stays."""
        self.train("a.lego", "--checkpoint", "c")
        subprocess.run(["cp", "c", "broken"], cwd=self.folder, check=True)
        broken = bytearray(self.read("c"))
        broken[208:216] = bytes(8)  # step 0 again
        broken[320 + 4 * 5000:320 + 4 * 5200] = b"\xff\xff\x7f\x7f" * 200  # the largest float
        try:
            import xxhash
        except ImportError:
            self.skipTest("python3-xxhash is not installed")
        broken[-8:] = xxhash.xxh3_64_intdigest(bytes(broken[:-8])).to_bytes(8, "little")
        self.write("broken", bytes(broken))
        self.fails(*QUICK, "-o", "b.lego", "--checkpoint", "broken", "--resume",
                   says="(?s)loss or the gradient of step 0 is not finite.*broken keeps the last good state")
        self.assertEqual(self.read("broken"), bytes(broken))
        self.assertNotIn("b.lego", self.files())

    def test_wrong_usage(self):
        for arguments, says in [
            ([], "--out FILE is missing"), (["-o", "a", "--tasks", "12"], "not a multiple of 8"),
            (["-o", "a", "--preset", "fast"], "'fast' is not one of these words: ours|published|authors|quick"),
            (["-o", "a", "--name", "Upper"], "cannot be called 'Upper'"),
            (["-o", "a", "--name", ""], "cannot be called ''"),
            (["-o", "a", "--name", "x" * 16], "cannot be called"), (["-o", "a", "stream.txt"], "takes no argument"),
            (["-o", "-", "--resume"], "--resume needs --checkpoint"), (["-o", "a", "--threads", "0"], "'0' is not"),
            (["-o", "a", "--checkpoint", "a"], "must be different files"),
            (["-o", "a", "--log", "a"], "must be different"),
            (["-o", "a", "--scouts", 8], "more than 7 scouts"), (["-o", "a", "--scouts", 2**32], "more than 7 scouts"),
            (["-o", "a", "--scouts", "1", "--no-scan"], "scouts are for the scan, and there is none"),
            (["-o", "a", "--scouts", "1", "--scout-alpha", "0.4"], "skewness of a scout is not from"),
            (["-o", "a", "--scout-alpha", "1.2", "--preset", "quick"], "without --scouts there are none"),
            (["-o", "a", "--n-min", "50001"], "the items of a task are not"),
            (["-o", "a", "--alpha-max", "0.4"], "the skewness is not"), (["-o", "a", "--rate", "2"], "learning rate"),
        ]:
            with self.subTest(arguments=arguments):
                self.run_program("train", *arguments, code=2, says=says)
        self.assertEqual(self.files(), [])

    MS = ["train", "--preset", "ms-ours", "--tasks", 14, "--batch", 2, "--rate", "0.001", "--scale-max", 100, "--quiet"]

    def test_meta_sketch(self):
        """A file of its own kind, the same bytes for any number of threads; few of the options."""
        self.run_program(*self.MS, "-o", "a.lego", "--log", "a.jsonl", "--threads", 1)
        self.run_program(*self.MS, "-o", "b.lego", "--threads", 2)
        first = self.read("a.lego")
        self.assertEqual(first, self.read("b.lego"))
        self.assertEqual(first[:8], b"LEGOMETA")
        self.assertEqual(int.from_bytes(first[16:24], "little"), 14)  # tasks
        recipe, *steps = map(json.loads, self.read("a.jsonl").splitlines())
        wanted = {"net": "ms", "tasks": 14, "batch": 2, "rate": 0.001, "scale_max": 100, "log_scale": True}
        self.assertEqual({key: recipe[key] for key in wanted}, wanted)
        self.assertEqual([(line["step"], line["tasks"]) for line in steps], [(i, 2 * i) for i in range(1, 8)])
        self.fails("info", "a.lego", says="not a sketch or a model")
        for more, says in ((["--name", "x"], "has no --name"), (["--scouts", 1], "--scouts means nothing to the net ms"),
                           (["--batch", 9], "from 1 to 8"), (["--scale-max", 1001], "mean frequency"),
                           (["--log", "c.lego"], "must be different files"), (["x"], "takes no argument"),
                           (["--rate", "2"], "learning rate")):
            self.run_program(*self.MS[:5], "-o", "c.lego", *more, code=2, says=says)
        self.run_program("train", "-o", "c.lego", "--rate-end", 0.1, code=2, says="--rate-end means nothing to the net paper")
        self.run_program("train", "-o", "c.lego", "--batch", 4, code=2, says="a step of these networks is 8 tasks")
        self.assertEqual(self.files(), ["a.jsonl", "a.lego", "b.lego"])

    def test_meta_sketch_interrupted(self):
        kept = self.interrupt(self.MS, 7)
        self.write("c", kept)
        self.fails("train", "--score", "c", says="only networks of the paper have a score")
        self.write("damaged", kept[:9000] + b"\xff\xff" + kept[9002:])
        self.fails(*self.MS, "-o", "x", "-c", "damaged", "--resume", says="damaged was damaged: its checksum is wrong")

    def interrupt(self, command, steps):
        """The same files after a stop and a kill; the checkpoint at the end of a run."""
        self.run_program(*command, "-o", "whole", "--log", "whole.log", "-c", "kept")
        for how in signal.SIGTERM, signal.SIGKILL:
            with self.subTest(how=how):
                name = how.name
                arguments = [*command, "-o", name, "--log", name + ".log"]
                process = self.start(*arguments)
                self.wait_for(name + ".checkpoint")
                process.send_signal(how)
                message = process.communicate(timeout=120)[1]
                if process.returncode != 0:  # else it was too fast for the signal
                    self.assertNotIn(name, self.files())
                    if how == signal.SIGTERM:
                        self.assertRegex(message, rf"stopped after step \d of {steps}; the same command with --resume")
                    self.fails(*arguments, says="checkpoint is there already")
                    self.fails(*arguments, "--resume", "--seed", 1, says="was made with --seed 0, not 1")
                    self.run_program(*arguments, "--resume")
                self.assertEqual(self.read(name), self.read("whole"))
                self.assertEqual(self.log_without_times(name + ".log"), self.log_without_times("whole.log"))
                self.assertNotIn(name + ".checkpoint", self.files())
        return self.read("kept")

    def test_backends(self):
        done = subprocess.run([PROGRAM, *map(str, QUICK), "-o", "a.lego", "--backend", "cuda"], cwd=self.folder,
                              capture_output=True, text=True)
        if done.returncode != 0:  # no CUDA in this build, or no such device
            self.assertRegex(done.stderr, "this build has no CUDA: 'make gpu'|cannot train on the backend cuda")
            self.assertEqual(self.files(), [])

    def test_ablations(self):
        models = {self.train("a.lego")}
        for switch in "--fixed-v", "--no-normalisation", "--no-scan", "--plain-loss":
            models.add(self.train("a.lego", switch))
        self.assertEqual(len(models), 5)


if __name__ == "__main__":
    unittest.main()
