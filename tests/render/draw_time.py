"""What lavapipe takes to draw a pipeline before and after linking: both in turns in one process.

It is CPU time of all of its threads, so it depends little on what else the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import vulkan as vk

from spvlink.draw.device import ObjectPool, get_device, new
from spvlink.draw.draw import Draw, refuse_unoffered
from spvlink.draw.scene import Code, Scene, make_scene, read_stages
from tests.render.drivers import PIXELS, VERTICES

_FEW, _MANY = 8, 512  # pixels on each side of the picture
_ENOUGH = 0.02  # seconds of a draw
_MOST = 1 << 20  # vertices of a draw
_ROUNDS = 7

Times = dict[str, int]  # VERTICES and PIXELS -> microseconds of a draw


class _Repeated(Draw):
    """A draw that is recorded once and submitted often. Nothing is read back."""

    def start(self) -> None:
        """Make everything, and draw once, which compiles."""
        self.feedback = None
        self.make_pointees()
        layouts = self.make_descriptors()
        self.make_attachments()
        self.make_render_pass()
        self._make_framebuffer()
        self.make_pipeline(layouts)
        self._submit_all([self._recorded(self._prepare)])
        self.command = self._recorded(self._render)
        self.seconds()

    def seconds(self) -> float:
        """Of all threads, of one draw."""
        begin = time.process_time()
        self._submit_all([self.command])
        return time.process_time() - begin

    def _prepare(self, command: Any) -> None:
        if self.structures is not None:
            self.structures.build(command, self._barrier)
        self._upload(command)

    def _recorded(self, record: Callable[[Any], None]) -> Any:
        info = new.VkCommandBufferAllocateInfo(
            commandPool=self.device.commands, commandBufferCount=1
        )
        command = vk.vkAllocateCommandBuffers(self.device.device, info)[0]
        vk.vkBeginCommandBuffer(command, new.VkCommandBufferBeginInfo())
        record(command)
        vk.vkEndCommandBuffer(command)
        return command

    def _submit_all(self, commands: list[Any]) -> None:
        vk.vkQueueSubmit(self.device.queue, 1, [new.VkSubmitInfo(pCommandBuffers=commands)], None)
        vk.vkQueueWaitIdle(self.device.queue)


def draw_times(before: Sequence[Code], after: Sequence[Code]) -> tuple[Times, Times]:
    """The least time of some draws of each, with a picture of few pixels and many vertices and the
    other way round. Raises CannotDraw, or what the driver says."""
    found: tuple[Times, Times] = ({}, {})
    for name, size in ((VERTICES, _FEW), (PIXELS, _MANY)):
        scene = make_scene(before, size=size)
        scene.exact = False  # the modules as they are
        if name == VERTICES:
            _fill(before, scene)
        for times, seconds in zip(found, _least(scene, before, after)):
            times[name] = round(seconds * 1e6)
    return found


def _fill(codes: Sequence[Code], scene: Scene) -> None:
    """As many instances as take a while; of mesh shaders the workgroups stay."""
    while scene.vertices and scene.vertices * scene.instances < _MOST:
        (seconds,) = _least(scene, codes, rounds=2)
        if seconds > _ENOUGH:
            return
        scene.instances *= 4


def _least(scene: Scene, *pipelines: Sequence[Code], rounds: int = _ROUNDS) -> list[float]:
    """Of each pipeline the seconds of its fastest draw; the pipelines take turns."""
    device = get_device()
    with ObjectPool(device) as pool:
        draws = []
        for codes in pipelines:
            stages = read_stages(codes)
            refuse_unoffered(device, stages)
            draws.append(_Repeated(device, pool, stages, scene))
        for one in draws:
            one.start()
        times = [[one.seconds() for one in draws] for _ in range(rounds)]
    return [min(row[at] for row in times) for at in range(len(draws))]
