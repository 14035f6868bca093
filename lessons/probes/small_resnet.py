"""A small ResNet that learns to classify images of four colours."""

import torch
import torch._inductor  # imported here because the first profile would import it, which takes time in the first step
from torch import Tensor, nn
from torch.profiler import record_function


class Block(nn.Module):
    """Two convolutions beside a shorter path."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.past = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the activations for images or activations of shape (images, inputs, height, width)."""
        return torch.relu(self.body(x) + self.past(x))


def small_resnet() -> nn.Sequential:
    """Return a network of 24 layers, ten of which are convolutions."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        Block(16, 16, 1),
        Block(16, 32, 2),
        Block(32, 64, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 4),
    )


class Training:
    """The training of a small ResNet on synthetic images, with one thread. Two training steps have run."""

    def __init__(self, images: int) -> None:
        torch.manual_seed(11)
        torch.set_num_threads(1)
        colours = torch.randn(4, 3, 1, 1)
        self.kinds = torch.randint(4, (images,))
        self.x = torch.randn(images, 3, 32, 32) + colours[self.kinds]
        self.network = small_resnet()
        weights = self.network.parameters()
        self.optimizer = torch.optim.SGD(weights, lr=0.05, momentum=0.9)
        for _ in range(2):
            self.step()

    def step(self) -> float:
        """Make one training step, and return the loss."""
        with record_function("forward"):
            scores = self.network(self.x)
            loss = nn.functional.cross_entropy(scores, self.kinds)
        with record_function("backward"):
            self.optimizer.zero_grad()
            loss.backward()
        with record_function("update"):
            self.optimizer.step()
        return loss.item()
